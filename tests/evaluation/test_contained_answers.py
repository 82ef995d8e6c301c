"""Known answers by containment: by hand, against look-ups one by one, and what must hold of any facts."""

import time
from itertools import pairwise

import numpy as np
import pytest
from evaluation.toys import facts_strategy, vocabulary_of
from hypothesis import given
from hypothesis import strategies as st

from nary.data.load import load
from nary.evaluation import contained_answers
from nary.evaluation.contained_answers import ContainedAnswers
from nary.evaluation.given import shorten
from nary.evaluation.known_answers import KnownAnswers
from nary.evaluation.queries import mask_table
from nary.facts import Fact, FactTable, Position, Role
from nary.facts.containment import Pattern
from nary.facts.index import FactIndex

CHEMISTRY = Fact("Curie", "prize", "Chemistry", [("time", "1911"), ("share", "1"), ("at", "Paris")])
PHYSICS = Fact("Curie", "prize", "Physics", [("time", "1903"), ("share", "4")])
PLAIN = Fact("Curie", "prize", "Medal")
OTHER = Fact("Bohr", "prize", "Physics", [("time", "1922"), ("share", "1")])
FACTS = [CHEMISTRY, PHYSICS, PLAIN, OTHER]
VOCABULARY = vocabulary_of([*FACTS, Fact("Curie", "prize", "Chemistry", [("time", "2000"), ("time", "2000")])])


def answers_to(asked: Fact, position: str, facts: list[Fact] | None = None) -> set[str]:
    known = ContainedAnswers(FactTable.from_facts(FACTS if facts is None else facts, VOCABULARY))
    place = Position.parse(position)
    column = list(asked.elements()).index(place)
    ids = FactTable.from_facts([asked], VOCABULARY).blocks[0].ids
    starts, answers = known.of(ids, column)
    assert starts.tolist() == [0, len(answers)]
    names = VOCABULARY.entities if place.role.is_entity else VOCABULARY.relations
    return {names[i] for i in answers}


@pytest.mark.parametrize(
    ("qualifiers", "position", "expected"),
    [
        ([], "object", {"Chemistry", "Physics", "Medal"}),
        ([("time", "1911")], "object", {"Chemistry"}),
        ([("time", "1911"), ("at", "Paris")], "object", {"Chemistry"}),
        ([("time", "1911"), ("share", "4")], "object", set()),
        ([("share", "1")], "subject", {"Curie"}),
        ([("share", "1")], "relation", {"prize"}),
        ([("time", "2000")], "object", set()),
        ([("time", "1903")], "value 1", {"1911"}),  # what is masked is not looked at
        ([("share", "1"), ("time", "1903")], "value 2", {"1911"}),
        ([("share", "4"), ("time", "1903")], "value 2", set()),
        ([("share", "Paris")], "attribute 1", {"at"}),
        ([("share", "1"), ("share", "1")], "value 2", set()),  # the fact has one share, and it is given
    ],
)
def test_by_hand(qualifiers: list[tuple[str, str]], position: str, expected: set[str]) -> None:
    assert answers_to(Fact("Curie", "prize", "Chemistry", qualifiers), position) == expected


def test_a_qualifier_that_a_fact_has_twice() -> None:
    twice = [Fact("Curie", "prize", "Chemistry", [("time", "2000"), ("time", "2000")])]
    assert answers_to(twice[0], "value 2", twice) == {"2000"}
    assert answers_to(twice[0], "object", twice) == {"Chemistry"}
    assert answers_to(twice[0], "object", [Fact("Curie", "prize", "Chemistry", [("time", "2000")])]) == set()


def test_of_no_facts_nothing_is_known() -> None:
    for position in ("object", "value 1", "attribute 1"):
        assert answers_to(CHEMISTRY, position, []) == set()
        assert answers_to(CHEMISTRY, position, [PLAIN]) <= {"Medal"}


def looked_up(index: FactIndex, ids: list[int], column: int) -> list[int]:
    return np.unique(index.fillings(Pattern.of_row(ids, {column}), column).answers).tolist()


@given(facts_strategy, facts_strategy, st.sampled_from([1, 7, 1 << 22]))
def test_as_if_looked_up_one_by_one(facts: list[Fact], asked: list[Fact], part: int) -> None:
    vocabulary = vocabulary_of([*facts, *asked])
    table = FactTable.from_facts(facts, vocabulary)
    known, index = ContainedAnswers(table), FactIndex(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contained_answers, "_MAX_PAIRS", part)
        for block in FactTable.from_facts(asked, vocabulary).blocks:
            for column in range(block.ids.shape[1]):
                starts, answers = known.of(block.ids, column)
                for row, ids in enumerate(block.ids.tolist()):
                    assert answers[starts[row] : starts[row + 1]].tolist() == looked_up(index, ids, column)


@given(facts_strategy)
def test_given_less_more_is_known_and_the_answer_always(facts: list[Fact]) -> None:
    vocabulary = vocabulary_of(facts)
    table = FactTable.from_facts(facts, vocabulary)
    known, exact = ContainedAnswers(table), KnownAnswers([table], "order-free")
    for masked in mask_table(table, frozenset(Role))[0]:
        answers_of: dict[int, list[set[int]]] = {}
        for count in (0, 1, 2, 99):
            for part in shorten(masked, count):
                starts, answers = known.of(part.ids, part.column)
                for i, row in enumerate(part.block.rows.tolist()):
                    answers_of.setdefault(row, []).append(set(answers[starts[i] : starts[i + 1]].tolist()))
                    assert part.answers[i] in answers_of[row][-1]
        starts, answers = exact.of(masked.ids, masked.column)
        for i, row in enumerate(masked.block.rows.tolist()):
            levels = [*answers_of[row], set(answers[starts[i] : starts[i + 1]].tolist())]
            assert all(fewer >= more for fewer, more in pairwise(levels))


def test_more_facts_more_is_known() -> None:
    for count in range(len(FACTS)):
        for position in ("subject", "object", "relation"):
            asked = Fact("Curie", "prize", "Chemistry")
            assert answers_to(asked, position, FACTS[:count]) <= answers_to(asked, position, FACTS[: count + 1])


@pytest.mark.benchmark_data
@pytest.mark.usefixtures("benchmark_data")
def test_jf17k_takes_seconds() -> None:
    data = load("jf17k")
    began = time.process_time()
    known = ContainedAnswers(FactTable.concatenate([data.train, data.test]))
    count = 0
    for masked in mask_table(data.test, frozenset(Role))[0]:
        for part in shorten(masked, 1):
            starts, _ = known.of(part.ids, part.column)
            count += int((np.diff(starts) > 0).sum())
    assert count == sum(block.ids.size for block in data.test.blocks)  # every answer is known
    assert time.process_time() - began < 20
