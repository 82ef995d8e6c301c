"""Schemas: found again, and something sensible for those that training never saw."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from models.tuples.small import DISTANCES, INFO, SETTINGS, facts, groups, make, scores

from nary.facts import FactTable
from nary.models.batch import Batch, Group
from nary.models.tuples.schemas import Schemas


def table_of(*schemas: list[int]) -> FactTable:
    """A fact for each relation with attributes; its entities are all 0."""
    counts = np.array([len(own) - 1 for own in schemas])
    heads = np.array([[own[0], 0, 0] for own in schemas], np.int32)
    pairs = np.array([[attribute, 0] for own in schemas for attribute in own[1:]], np.int32).reshape(-1, 2)
    return FactTable.from_columns(heads, counts, pairs)


def rows(schemas: Schemas, asked: list[int]) -> list[float]:
    """What is found in a table of the powers of 2: it tells which rows were taken."""
    powers = 2.0 ** torch.arange(len(schemas), dtype=torch.float64)
    return schemas.rows(powers[:, None].repeat(1, 2), torch.tensor([asked]))[0].tolist()


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=4), min_size=1, max_size=30))
def test_every_schema_is_found_again(found: list[list[int]]) -> None:
    asked = {(own[0], *sorted(own[1:])) for own in found}
    schemas = Schemas(table_of(*map(list, asked)), max_arity=5)
    assert len(schemas) == len(asked)
    assert {rows(schemas, list(own))[0] for own in asked} == {2.0**number for number in range(len(asked))}


def test_an_unknown_schema_is_the_mean_of_those_that_are_like_it() -> None:
    schemas = Schemas(table_of([1], [1, 2], [1, 3], [4, 2], [4, 3], [1, 2, 2]), max_arity=5)
    mean = (rows(schemas, [1, 2])[0] + rows(schemas, [1, 3])[0]) / 2
    assert rows(schemas, [1, 5]) == [mean, mean]
    mean = (rows(schemas, [4, 2])[0] + rows(schemas, [4, 3])[0]) / 2
    assert rows(schemas, [4]) == [mean, mean]  # none of its arity
    assert rows(schemas, [3, 2]) == [0, 0]  # none of its relation


def test_attributes_tell_facts_of_one_relation_apart() -> None:
    for name in SETTINGS:
        model = make(name, table_of([1, 2], [1, 3]))
        one, other = ([torch.tensor([[1, 0, 4, attribute, 7]])] for attribute in (2, 3))
        groups_of = [Group(ids, torch.tensor([1])) for ids in (*one, *other)]
        assert not torch.allclose(*(scores(model, group) for group in groups_of)), name


@pytest.mark.parametrize("name", SETTINGS)
def test_facts_of_unknown_arity_tell_nothing(name: str) -> None:
    model = make(name, facts((2, 4)))
    mixed = groups(facts((2, 3, 4, 5)))
    found = scores(model, *mixed).split([len(group.columns) for group in mixed])
    for arity, own in zip((2, 3, 4, 5), found, strict=True):
        assert own.isfinite().all()
        assert bool(own.any()) == (arity in (2, 4))
    beyond = Group(torch.zeros(2, 17, dtype=torch.int64), torch.tensor([1, 16]))
    assert scores(model, beyond).shape == (2, INFO.num_entities)
    assert not scores(model, beyond).any()
    assert not model.fact_scores(beyond.ids).any()


@pytest.mark.parametrize("name", SETTINGS)
def test_facts_of_unknown_schema_can_be_asked(name: str) -> None:
    model = make(name, table_of([1], [1, 2]))
    unknown = Group(torch.tensor([[1, 3, 4, 5, 6], [0, 3, 4, 2, 6], [1, 3, 4, 2, 6]]), torch.tensor([1, 1, 1]))
    found = scores(model, unknown)
    assert found.isfinite().all()
    torch.testing.assert_close(found[0], found[2])  # the only schema with that relation and arity
    if name not in ("getd", "n-tucker", "ram"):  # norms and mixtures make something of a vector of zeros
        assert not found[1].any()


@pytest.mark.parametrize("name", sorted(SETTINGS.keys() - DISTANCES))
def test_relations_are_not_scored(name: str) -> None:
    with pytest.raises(NotImplementedError, match="does not score relations"):
        make(name).score(Batch(groups(facts())), "relation")
