"""Known answers under every rule."""

import time
from typing import get_args

import numpy as np
import pytest
from evaluation.naive import known_answers, question
from evaluation.toys import LONG, PLAIN, TRAIN, facts_strategy, vocabulary_of
from hypothesis import given
from hypothesis import strategies as st

from nary.data.load import load
from nary.evaluation.known_answers import KnownAnswers
from nary.evaluation.protocol import FilterRule
from nary.facts import Fact, FactTable, Position
from nary.facts.layout import position_at

RULES = get_args(FilterRule)


def known_of(facts: list[Fact], fact: Fact, position: str, rule: FilterRule) -> set[str]:
    vocabulary = vocabulary_of([*facts, fact])
    known = KnownAnswers([FactTable.from_facts(facts, vocabulary)], rule)
    ids = FactTable.from_facts([fact], vocabulary).blocks[0].ids.copy()
    place = Position.parse(position)
    column = list(fact.elements()).index(place)
    ids[0, column] = 12345  # the answer is not looked at
    starts, answers = known.of(ids, column)
    assert starts.tolist() == [0, len(answers)]
    assert answers.tolist() == sorted(set(answers.tolist()))
    names = vocabulary.entities if place.role.is_entity else vocabulary.relations
    return {names[i] for i in answers}


@pytest.mark.parametrize(
    ("fact", "position", "slots", "order_free", "primary"),
    [
        (PLAIN, "object", {"Ben", "Cy"}, {"Ben", "Cy"}, {"Ben", "Cy", "Dee"}),  # Ada likes Dee with Fay
        (PLAIN, "subject", {"Ada"}, {"Ada"}, {"Ada"}),
        (PLAIN, "relation", {"likes"}, {"likes"}, {"likes"}),
        (LONG, "object", {"Ben"}, {"Ben"}, {"Ben", "Cy", "Dee"}),
        (LONG, "value 1", {"Eve"}, {"Eve"}, {"Eve"}),  # beside Fay
        # Beside Eve there is also Cy, but Cy comes before Eve and Fay comes after her.
        (LONG, "value 2", {"Fay"}, {"Cy", "Fay"}, {"Fay"}),
        (LONG, "attribute 1", {"with"}, {"with"}, {"with"}),
    ],
)
def test_five_facts(fact: Fact, position: str, slots: set[str], order_free: set[str], primary: set[str]) -> None:
    facts = [*TRAIN, PLAIN, LONG]
    assert known_of(facts, fact, position, "slots") == slots
    assert known_of(facts, fact, position, "order-free") == order_free
    assert known_of(facts, fact, position, "primary") == primary
    assert known_of(facts, fact, position, "none") == set()


def test_a_gap_in_an_attribute_keeps_its_value() -> None:
    facts = [Fact("x", "r", "y", [("a", "v"), ("c", "w")]), Fact("x", "r", "y", [("a", "v"), ("d", "w")])]
    asked = Fact("x", "r", "y", [("a", "v"), ("b", "w")])
    other_value = Fact("x", "r", "y", [("a", "v"), ("b", "z")])
    assert known_of(facts, asked, "attribute 2", "order-free") == {"c", "d"}
    assert known_of(facts, asked, "attribute 1", "order-free") == set()  # ?: v beside b: w
    assert known_of(facts, other_value, "attribute 2", "order-free") == set()  # ?: z beside a: v


def test_a_gap_in_a_value_keeps_its_attribute() -> None:
    facts = [Fact("x", "r", "y", [("a", "v"), ("b", "w")])]
    assert known_of(facts, Fact("x", "r", "y", [("a", "v"), ("b", "z")]), "value 2", "order-free") == {"w"}
    assert known_of(facts, Fact("x", "r", "y", [("a", "v"), ("c", "z")]), "value 2", "order-free") == set()


def test_equal_qualifiers_are_counted() -> None:
    twice = [Fact("x", "r", "y", [("a", "v"), ("a", "v")])]
    assert known_of(twice, Fact("x", "r", "y", [("a", "v"), ("a", "w")]), "value 2", "order-free") == {"v"}
    assert known_of(twice, Fact("x", "r", "y", [("a", "v")]), "value 1", "order-free") == set()


def test_facts_that_fill_other_tables_are_found_too() -> None:
    vocabulary = vocabulary_of([*TRAIN, PLAIN, LONG])
    tables = [FactTable.from_facts([fact], vocabulary) for fact in (*TRAIN, PLAIN)]
    block = tables[-1].blocks[0]
    starts, answers = KnownAnswers(tables, "primary").of(np.repeat(block.ids, 3, axis=0).astype(np.int64), 2)
    assert starts.tolist() == [0, 3, 6, 9]
    assert [vocabulary.entities[i] for i in answers] == ["Ben", "Cy", "Dee"] * 3


@pytest.mark.parametrize("rule", RULES)
def test_nothing_is_known_of_no_facts_or_of_another_arity(rule: FilterRule) -> None:
    assert known_of([], LONG, "value 1", rule) == set()
    assert known_of([PLAIN], LONG, "value 1", rule) == set()


@given(facts_strategy, facts_strategy, st.sampled_from(RULES))
def test_as_with_sets_of_names(facts: list[Fact], asked: list[Fact], rule: FilterRule) -> None:
    vocabulary = vocabulary_of([*facts, *asked])
    known = KnownAnswers([FactTable.from_facts(facts, vocabulary)], rule)
    expected = known_answers(facts, rule)
    table = FactTable.from_facts(asked, vocabulary)
    for block in table.blocks:
        for column in range(block.ids.shape[1]):
            position = position_at(column, block.qualifiers)
            names = vocabulary.entities if position.role.is_entity else vocabulary.relations
            starts, answers = known.of(block.ids, column)
            for i, row in enumerate(block.rows):
                found = [names[answer] for answer in answers[starts[i] : starts[i + 1]]]
                assert found == sorted(expected[question(asked[row], position, rule)])


@pytest.mark.benchmark_data
@pytest.mark.usefixtures("benchmark_data")
def test_jf17k() -> None:
    data = load("jf17k")
    began = time.perf_counter()
    known = KnownAnswers([data.train, data.test], "slots")
    others = {True: [], False: []}
    for block in data.test.blocks:
        for column in range(block.ids.shape[1]):
            starts, _ = known.of(block.ids, column)
            others[column in block.entity_columns].append(np.diff(starts) - 1)
    assert time.perf_counter() - began < 10  # a second, with much room for a busy machine
    removed = np.concatenate(others[True])
    assert (len(removed), len(removed) + len(np.concatenate(others[False]))) == (67_573, 110_578)
    assert (removed > 0).mean() == pytest.approx(0.69, abs=0.005)
    assert removed.mean() == pytest.approx(33, abs=0.5)
    assert removed.max() == 1_207
    assert removed.min() == 0  # every answer is known itself
