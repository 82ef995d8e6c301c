"""Evaluation by how much is given: what is left of a fact, ranks as by brute force, and the curve."""

from itertools import combinations

import numpy as np
import pytest
from evaluation.naive import Rank
from evaluation.toys import Scattered, dataset_of, facts_strategy, five_facts, random_facts, vocabulary_of
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from torch import Tensor

from nary.evaluation.evaluate import evaluate
from nary.evaluation.given import num_others, shorten
from nary.evaluation.protocol import Protocol
from nary.evaluation.queries import EncodedQuery, mask_table
from nary.evaluation.ranks import ALL_GIVEN
from nary.evaluation.scorer import QueryScorer
from nary.facts import Fact, FactTable, Role
from nary.facts.containment import Pattern
from nary.facts.index import FactIndex
from nary.facts.layout import FIRST_ATTRIBUTE, num_qualifiers
from nary.models.base import Kind
from nary.models.batch import Batch


def pairs_of(ids: list[int]) -> list[tuple[int, int]]:
    m = num_qualifiers(len(ids))
    return list(zip(ids[FIRST_ATTRIBUTE : FIRST_ATTRIBUTE + m], ids[FIRST_ATTRIBUTE + m :], strict=True))


@given(facts_strategy, st.integers(0, 4))
def test_what_is_left_of_a_fact(facts: list[Fact], count: int) -> None:
    table = FactTable.from_facts(facts, vocabulary_of(facts))
    for masked in mask_table(table, frozenset(Role))[0]:
        whole = dict(zip(masked.block.rows.tolist(), masked.ids.tolist(), strict=True))
        rows = []
        for part in shorten(masked, count):
            assert part.shortened == (count, masked.block.arity, masked.column)
            assert part.role == masked.role
            for row, ids in zip(part.block.rows.tolist(), part.ids.tolist(), strict=True):
                rows.append(row)
                kept, pairs = pairs_of(ids), pairs_of(whole[row])
                assert len(kept) == min(count, num_others(masked)) + (masked.column >= FIRST_ATTRIBUTE)
                assert tuple(kept) in set(combinations(pairs, len(kept)))  # in the same order
                assert ids[part.column] == whole[row][masked.column]
                if masked.column >= FIRST_ATTRIBUTE:  # the masked qualifier itself is kept
                    place = (part.column - FIRST_ATTRIBUTE) % len(kept)
                    assert kept[place] == pairs[(masked.column - FIRST_ATTRIBUTE) % len(pairs)]
        assert sorted(rows) == sorted(whole)


def test_the_choice_follows_from_the_fact_alone_and_is_even() -> None:
    facts = [Fact(f"s{i}", "r", "o", [("a", "x"), ("b", "y"), ("c", "z")]) for i in range(600)]
    vocabulary = vocabulary_of(facts)

    def kept(chosen: list[Fact]) -> dict[int, int]:
        table = FactTable.from_facts(chosen, vocabulary)
        (masked,), _ = mask_table(table, {Role.OBJECT})
        (part,) = shorten(masked, 1)
        return dict(zip(part.ids[:, 1].tolist(), part.ids[:, FIRST_ATTRIBUTE].tolist(), strict=True))

    whole = kept(facts)
    assert {subject: whole[subject] for subject in kept(facts[100:50:-1])} == kept(facts[100:50:-1])
    shares = np.bincount(list(whole.values()))[: len(vocabulary.relations)] / len(facts)
    np.testing.assert_allclose(shares[shares > 0], 1 / 3, atol=0.07)


def by_hand(model: Scattered, facts: list[Fact], known: list[Fact], count: int) -> list[Rank]:
    """Ranks of the queries, one by one, filtered by looking up each query."""
    vocabulary = vocabulary_of([*facts, *known])
    index = FactIndex(FactTable.from_facts(known, vocabulary))
    ranks = []
    for masked in mask_table(FactTable.from_facts(facts, vocabulary), frozenset(Role))[0]:
        for part in shorten(masked, count):
            for row, ids in zip(part.block.rows.tolist(), part.ids.tolist(), strict=True):
                (scored,) = QueryScorer(model).score([EncodedQuery(tuple(ids), part.column, partial=True)])
                scores = scored.scores[0].numpy().copy()
                answer = ids[part.column]
                others = set(index.fillings(Pattern.of_row(ids, {part.column}), part.column).answers.tolist())
                gold = scores[answer]
                scores[list(others - {answer})] = -np.inf
                higher, equal = int((scores > gold).sum()), int((scores == gold).sum())
                ranks.append(Rank(str(row), str(masked.column), "", 1 + higher, higher + equal, len(others - {answer})))
    return sorted(ranks)


@settings(max_examples=20)
@given(st.integers(0, 9), st.integers(0, 3))
def test_ranks_as_by_brute_force(seed: int, count: int) -> None:
    facts = random_facts(30, seed)
    data = dataset_of(train=facts[:20], test=facts[20:])
    model = Scattered(data.vocabulary, seed)
    _, ranks = evaluate(model, data, protocol=Protocol(given=count))
    columns = (ranks.row, ranks.column, ranks.optimistic, ranks.pessimistic, ranks.filtered)
    ours = [
        Rank(str(row), str(column), "", *rest)
        for row, column, *rest in zip(*map(np.ndarray.tolist, columns), strict=True)
    ]
    assert sorted(ours) == by_hand(model, facts[20:], facts, count)
    assert (ranks.given == count).all()


class Watching(Scattered):
    """Remembers which queries may have further qualifiers."""

    def score(self, batch: Batch, kind: Kind) -> Tensor:
        self.partial = {None if group.partial is None else bool(group.partial.all()) for group in batch.groups}
        return super().score(batch, kind)


def test_only_queries_that_give_less_than_all_are_partial() -> None:
    data, _ = five_facts()
    model = Watching(data.vocabulary)
    for count, expected in (("all", None), ("none", True), (1, True)):
        evaluate(model, data, protocol=Protocol(given=count))  # type: ignore[arg-type]
        assert model.partial == {expected}


def test_a_curve_has_the_published_figures_and_the_same_queries_at_every_point() -> None:
    facts = random_facts(60, 3)
    data = dataset_of(train=facts[:40], test=facts[40:])
    model = Scattered(data.vocabulary)
    whole, _ = evaluate(model, data)
    curve, ranks = evaluate(model, data, protocol=Protocol(given="curve"))
    assert {group: figures for group, figures in curve.metrics.items() if "[given" not in group} == whole.metrics
    assert set(curve.curve["object"]) == {"0", "1", "2", "all"}
    for group in curve.curve:
        assert len({curve.metrics[f"{group}[given={level}]"]["count"] for level in curve.curve[group]}) == 1
    long_facts = sum(len(fact.qualifiers) > 0 for fact in facts[40:])
    assert curve.metrics["object[given=1]"]["count"] == long_facts
    assert "MRR by number of qualifiers given" in str(curve)
    assert "MRR by number of qualifiers given" in curve.latex()
    assert "object[given=0]" in curve.csv()
    assert set(ranks.given.tolist()) == {ALL_GIVEN, 0, 1, 2}
    one = evaluate(model, data, protocol=Protocol(given=1, positions=["object"]))[1]
    at_one = (ranks.given == 1) & (ranks.role == one.role[0])
    assert ranks.rank()[at_one].tolist() == one.rank()[one.num_others > 0].tolist()


def test_triples_have_no_curve() -> None:
    facts = [Fact("a", "r", "b"), Fact("b", "r", "c")]
    data = dataset_of(train=facts, test=facts)
    report, _ = evaluate(Scattered(data.vocabulary), data, protocol=Protocol(given="curve"))
    assert report.curve == {}


def test_the_protocol_says_how_much_is_given() -> None:
    assert "given" not in Protocol().as_dict()  # as before there was a choice
    assert Protocol(given=2).as_dict()["given"] == 2
    assert Protocol(given=0) == Protocol(given="none")
    assert Protocol.model_validate(Protocol(given=2).as_dict()) == Protocol(given=2)
    assert Protocol(given=2).describe().startswith("Protocol: filter containment (train")
    assert Protocol(given=2).describe().endswith("; given 2.")
    assert Protocol(given="curve", ties="optimistic").without_curve() == Protocol(ties="optimistic")
    assert Protocol(given=1).without_curve() == Protocol(given=1)
    assert "filter none" in Protocol(given=2, filter="none").describe()
    for wrong in (-1, "some", 1.5, True):
        with pytest.raises(ValidationError):
            Protocol(given=wrong)  # type: ignore[arg-type]
