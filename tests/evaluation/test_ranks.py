"""Ranks: worked by hand, against a naive ranking, and by the laws they obey."""

import gzip
import json
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch
from evaluation.naive import Rank, rank_all
from evaluation.toys import (
    LONG,
    PLAIN,
    Constant,
    Scattered,
    SubjectsOnly,
    dataset_of,
    facts_strategy,
    five_facts,
    random_facts,
    vocabulary_of,
)
from hypothesis import given
from hypothesis import strategies as st

from nary.errors import SettingError
from nary.evaluation.known_answers import KnownAnswers
from nary.evaluation.protocol import FilterRule, Protocol
from nary.evaluation.queries import subjects_and_objects
from nary.evaluation.ranks import ROLES, Ranks, rank
from nary.evaluation.scorer import ScoreError
from nary.facts import Fact, FactTable, Vocabulary
from nary.facts.layout import position_at
from nary.models.base import Model

RULES = get_args(FilterRule)


def as_named(ranks: Ranks, table: FactTable, vocabulary: Vocabulary) -> list[Rank]:
    facts = list(table.facts(vocabulary))
    found = []
    for i in range(len(ranks)):
        fact, position = facts[ranks.row[i]], position_at(ranks.column[i], ranks.arity[i] - 2)
        names = vocabulary.entities if position.role.is_entity else vocabulary.relations
        assert ROLES[ranks.role[i]] is position.role
        assert vocabulary.relations[ranks.relation[i]] == fact.relation
        counts = (int(column[i]) for column in (ranks.optimistic, ranks.pessimistic, ranks.filtered))
        found.append(Rank(str(fact), str(position), names[ranks.answer[i]], *counts))
    return found


def ranked(model: Model, facts: list[Fact], filter_facts: list[Fact], protocol: Protocol) -> Ranks:
    vocabulary = vocabulary_of([*facts, *filter_facts])
    known = KnownAnswers([FactTable.from_facts(filter_facts, vocabulary)], protocol.filter)
    return rank(model, FactTable.from_facts(facts, vocabulary), known, protocol)


# The right answers of the five facts. By score: Cy 4, Dee 4, Eve 3, Ben 2, Ada 1, Fay 1; sees 1, with 1, likes 0.
LONG_RANKS = {
    "relation": (3, 3, 0),
    "subject": (5, 6, 0),  # Ada is level with Fay
    "object": (4, 4, 0),  # below Cy, Dee, Eve
    "attribute 1": (1, 2, 0),  # level with sees
    "attribute 2": (1, 2, 0),
    "value 1": (3, 3, 0),
    "value 2": (5, 6, 0),  # Fay is level with Ada
}
PLAIN_RANKS = {"relation": (3, 3, 0), "subject": (5, 6, 0), "object": (4, 4, 0)}
FILTERED: dict[FilterRule, dict[tuple[Fact, str], tuple[int, int, int]]] = {
    "none": {},
    "slots": {(PLAIN, "object"): (3, 3, 1)},  # Ada likes Cy
    "order-free": {(PLAIN, "object"): (3, 3, 1), (LONG, "value 2"): (4, 5, 1)},  # Cy was there with Eve too
    "primary": {(PLAIN, "object"): (2, 2, 2), (LONG, "object"): (2, 2, 2)},  # Ada likes Cy, and Dee
}


@pytest.mark.parametrize("rule", RULES)
def test_five_facts(rule: FilterRule) -> None:
    data, model = five_facts()
    ranks = rank(model, data.test, KnownAnswers([data.train, data.test], rule), Protocol(filter=rule))
    expected = [
        Rank(str(fact), position, str(answer), *FILTERED[rule].get((fact, position), counts[position]))
        for fact, counts in ((LONG, LONG_RANKS), (PLAIN, PLAIN_RANKS))
        for position, answer in ((str(place), answer) for place, answer in fact.elements().items())
    ]
    assert as_named(ranks, data.test, data.vocabulary) == expected


def test_ties() -> None:
    data, model = five_facts()
    ranks = rank(model, data.test, KnownAnswers([], "none"), Protocol(filter="none", ties="optimistic"))
    assert ranks.rank("mean").tolist() == [3, 5.5, 4, 1.5, 1.5, 3, 5.5, 3, 5.5, 4]
    assert ranks.rank("pessimistic").tolist() == [3, 6, 4, 2, 2, 3, 6, 3, 6, 4]
    assert ranks.rank().tolist() == ranks.rank("optimistic").tolist() == [3, 5, 4, 1, 1, 3, 5, 3, 5, 4]


def test_subjects_and_objects_alone_as_candidates() -> None:
    data, model = five_facts()  # Ada, Ben, Cy, Dee, but not Eve and Fay
    candidates = subjects_and_objects(data.facts, 6)
    assert candidates.tolist() == [True, True, True, True, False, False]
    known = KnownAnswers([data.train, data.test], "slots")
    ranks = rank(model, data.test, known, Protocol(), candidates=candidates)
    assert ranks.left_out == 0
    found = {(r.fact, r.position): r[3:] for r in as_named(ranks, data.test, data.vocabulary)}
    assert found == {
        (str(LONG), "relation"): (3, 3, 0),
        (str(LONG), "subject"): (4, 4, 0),  # not level with Fay any more
        (str(LONG), "object"): (3, 3, 0),
        (str(LONG), "attribute 1"): (1, 2, 0),
        (str(LONG), "attribute 2"): (1, 2, 0),
        (str(LONG), "value 1"): (3, 3, 0),  # values are ranked among all: Eve below Cy and Dee,
        (str(LONG), "value 2"): (5, 6, 0),  # and Fay level with Ada
        (str(PLAIN), "relation"): (3, 3, 0),
        (str(PLAIN), "subject"): (4, 4, 0),
        (str(PLAIN), "object"): (2, 2, 1),
    }


def test_a_subject_that_is_no_candidate_is_left_out() -> None:
    data, model = five_facts()
    other = FactTable.from_facts([Fact("Eve", "likes", "Ada", [("with", "Fay")])], data.vocabulary)
    ranks = rank(model, other, KnownAnswers([], "none"), Protocol(), candidates=subjects_and_objects(data.facts, 6))
    assert ranks.left_out == 1
    found = {r.position: r[3:] for r in as_named(ranks, other, data.vocabulary)}
    assert found == {
        "relation": (3, 3, 0),
        "object": (4, 4, 0),  # Ada below Cy, Dee and Ben; Eve and Fay are no candidates
        "attribute 1": (1, 2, 0),
        "value 1": (5, 6, 0),
    }


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("restricted", [False, True])
def test_as_a_naive_ranking(rule: FilterRule, restricted: bool) -> None:
    facts = random_facts(700, seed=1)
    test, filter_facts = facts[:300], facts[100:]  # some of the answers are not known
    vocabulary = vocabulary_of(facts)
    model = Scattered(vocabulary)
    table = FactTable.from_facts(test, vocabulary)
    # Only facts about e0 .. e4 make candidates, so that values and some subjects and objects are none.
    chosen = FactTable.from_facts([f for f in facts if {f.subject, f.object} <= {"e0", "e1", "e2", "e3"}], vocabulary)
    candidates = subjects_and_objects(chosen, len(vocabulary.entities)) if restricted else None
    known = KnownAnswers([FactTable.from_facts(filter_facts, vocabulary)], rule)
    ranks = rank(model, table, known, Protocol(filter=rule, memory=400), candidates=candidates)
    allowed = {"e0", "e1", "e2", "e3"} if restricted else None
    expected = rank_all(model, test, filter_facts, rule, vocabulary, allowed)
    assert len(expected) > 1000
    assert as_named(ranks, table, vocabulary) == expected
    assert len(ranks) + ranks.left_out == sum(len(fact.elements()) for fact in test)
    assert (ranks.filtered > 0).mean() > 0.1 or rule == "none"
    assert (ranks.pessimistic > ranks.optimistic).mean() > 0.3


@given(facts_strategy, st.integers(0, 99), st.sampled_from(RULES), st.integers(1, 2000))
def test_laws(facts: list[Fact], seed: int, rule: FilterRule, memory: int) -> None:
    model = Scattered(vocabulary_of(facts), seed)
    raw = ranked(model, facts, facts, Protocol(filter="none"))
    filtered = ranked(model, facts, facts, Protocol(filter=rule))
    assert (filtered.optimistic <= raw.optimistic).all()
    assert (filtered.pessimistic <= raw.pessimistic).all()
    assert (filtered.pessimistic >= filtered.optimistic).all()
    assert (filtered.optimistic >= 1).all()
    assert (filtered.rank("mean") * 2 == filtered.optimistic + filtered.pessimistic).all()
    assert (raw.pessimistic - filtered.pessimistic <= filtered.filtered).all()
    small = ranked(model, facts, facts, Protocol(filter=rule, memory=memory))
    for name in ("row", "column", "answer", "optimistic", "pessimistic", "filtered"):
        assert np.array_equal(getattr(small, name), getattr(filtered, name))


@given(facts_strategy, st.randoms(use_true_random=False), st.sampled_from(RULES))
def test_the_order_of_qualifiers_and_of_facts_changes_nothing(
    facts: list[Fact], random: object, rule: FilterRule
) -> None:
    model = Scattered(vocabulary_of(facts))
    turned = [Fact(*fact.primary, random.sample(fact.qualifiers, len(fact.qualifiers))) for fact in facts]
    protocol = Protocol(filter=rule)
    mine, theirs = ranked(model, facts, turned[::-1], protocol), ranked(model, turned[::-1], facts, protocol)
    back = len(facts) - 1 - theirs.row
    order = np.lexsort((theirs.column, back))
    for name in ("column", "answer", "optimistic", "pessimistic", "filtered"):
        assert np.array_equal(getattr(mine, name), getattr(theirs, name)[order])


def test_a_model_is_asked_each_question_once() -> None:
    class Counting(Scattered):
        asked = 0

        def score(self, batch, kind):  # type: ignore[no-untyped-def]
            self.asked += len(batch)
            return super().score(batch, kind)

    facts = [Fact("x", "r", name) for name in "abcdef"]
    model = Counting(vocabulary_of(facts))
    assert len(ranked(model, facts, facts, Protocol())) == 18
    assert model.asked == 6 + 6 + 1  # x ? a, ...; ? r a, ...; x r ?


def test_few_bytes_of_scores_at_a_time() -> None:
    class Watched(Scattered):
        def score(self, batch, kind):  # type: ignore[no-untyped-def]
            scores = super().score(batch, kind)
            sizes.setdefault(kind, []).append(scores.numel() * 4)
            return scores

    sizes: dict[str, list[int]] = {}
    facts = random_facts(200, seed=2)
    ranked(Watched(vocabulary_of(facts)), facts, facts, Protocol(memory=200))
    for own in sizes.values():  # how many candidates there are the first chunk tells
        assert own[0] > 100
        assert len(own) > 20
        assert max(own[1:]) <= 100  # a chunk is still held while the next is made


def test_only_the_positions_asked_for() -> None:
    facts = random_facts(20, seed=3)
    vocabulary = vocabulary_of(facts)
    ranks = ranked(Scattered(vocabulary), facts, facts, Protocol(positions=["value", "relation"]))
    assert {ROLES[role].value for role in ranks.role} == {"value", "relation"}
    subjects = ranked(SubjectsOnly(vocabulary), facts, facts, Protocol())
    assert {ROLES[role].value for role in subjects.role} == {"subject"}
    with pytest.raises(SettingError, match="subjects only cannot predict: object, value") as error:
        ranked(SubjectsOnly(vocabulary), facts, facts, Protocol(positions=["subject", "object", "value"]))
    assert error.value.hint == "It predicts: subject. Change evaluation.positions."


def test_no_facts_no_ranks() -> None:
    _, model = five_facts()
    ranks = rank(model, FactTable([]), KnownAnswers([], "slots"), Protocol())
    assert (len(ranks), ranks.left_out, ranks.rank().tolist()) == (0, 0, [])


def test_nan_is_refused_and_infinity_is_not() -> None:
    data, _ = five_facts()
    known, inf = KnownAnswers([data.train], "slots"), float("inf")
    diverged = Constant([1, 2, float("nan"), 4, 3, 1], [0, 1, 1])
    with pytest.raises(ScoreError, match="the model gives NaN"):
        rank(diverged, data.test, known, Protocol())
    ranks = rank(Constant([-inf, inf, 4, 4, -inf, -inf], [0, 1, 1]), data.test, known, Protocol(positions=["subject"]))
    assert ranks.optimistic.tolist() == [4, 4]  # Ada is below Ben, Cy, Dee, level with Eve, Fay
    assert ranks.pessimistic.tolist() == [6, 6]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_scores_of_any_precision(dtype: torch.dtype) -> None:
    data, _ = five_facts()
    close = 1 + 1e-12  # a tie but in double precision
    model = Constant([1, 2, 4, 4, 3, close], [0, 1, 1], dtype)
    ranks = rank(model, data.test, KnownAnswers([], "none"), Protocol(positions=["subject"]))
    assert ranks.optimistic.tolist() == ([6, 6] if dtype is torch.float64 else [5, 5])
    assert ranks.pessimistic.tolist() == [6, 6]


def test_the_model_is_left_as_it_was_and_progress_is_told() -> None:
    facts = random_facts(30, seed=4)
    data = dataset_of(train=facts)
    seen: list[tuple[int, int | None]] = []
    modes: list[tuple[bool, bool]] = []

    class Watched(Scattered):
        def score(self, batch, kind):  # type: ignore[no-untyped-def]
            modes.append((self.training, torch.is_inference_mode_enabled()))
            return super().score(batch, kind)

    model = Watched(data.vocabulary).train()
    ranks = rank(model, data.train, KnownAnswers([], "none"), Protocol(), lambda *told: seen.append(told))
    assert model.training
    assert set(modes) == {(False, True)}
    assert seen[-1] == (len(ranks), len(ranks))
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


@pytest.mark.parametrize("name", ["ranks.jsonl", "ranks.jsonl.gz"])
def test_a_line_a_query(tmp_path: Path, name: str) -> None:
    data, model = five_facts()
    known = KnownAnswers([data.train, data.test], "order-free")
    ranks = rank(model, data.test, known, Protocol(filter="order-free"))
    path = tmp_path / name
    ranks.write_jsonl(path, data.test, data.vocabulary)
    assert [file.name for file in tmp_path.iterdir()] == [name]
    text = (gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()).decode()
    lines = [json.loads(line) for line in text.splitlines()]
    assert len(lines) == 10
    assert lines[6] == {
        "fact": "Ada | likes | Ben | with: Eve | with: Fay",
        "position": "value 2",
        "answer": "Fay",
        "rank": 4.5,
        "optimistic": 4,
        "pessimistic": 5,
        "filtered": 1,
    }
    assert (lines[7]["fact"], lines[7]["position"], lines[7]["answer"]) == ("Ada | likes | Ben", "relation", "likes")
