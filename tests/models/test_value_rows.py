"""Rows of literals: learned at knots, interpolated between them."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nary.errors import SettingError
from nary.facts import Fact, FactTable, Vocabulary
from nary.models.base import DatasetInfo
from nary.models.gran import Gran, GranSettings
from nary.models.growth import take_weights
from nary.models.value_rows import ValueRows, place_knots

WIDTH = 4


def info_of(*values: str, also: tuple[str, ...] = ()) -> DatasetInfo:
    """A fact about Ada for each value; ``also`` are entities without facts."""
    vocabulary = Vocabulary.of(["Ada", *values], ["earns"]).with_names(Vocabulary.of(also, []))
    facts = FactTable.from_facts([Fact("Ada", "earns", value) for value in values], vocabulary)
    return DatasetInfo(len(vocabulary.entities), 1, 2, facts, vocabulary.scales)


def rows_of(info: DatasetInfo, num_knots: int = 3) -> tuple[ValueRows, torch.Tensor]:
    """Value rows that are the value itself in the first column, and what they make of a table of zeros."""
    rows = ValueRows(info.scales, info.facts, info.num_entities, num_knots, WIDTH)
    with torch.no_grad():
        rows.rows.zero_()
        rows.rows[:, 0] = rows.knots.flatten().float()
    table, _ = rows(torch.zeros(info.num_entities, WIDTH), torch.zeros(info.num_entities))
    return rows, table.detach()[:, 0]


def test_knots_are_the_values_if_these_are_few() -> None:
    assert place_knots(np.array([5.0, 1, 5, 3]), 4).tolist() == [1, 3, 5, 5]
    assert place_knots(np.array([7.0]), 2).tolist() == [7, 7]
    assert place_knots(np.array([]), 2).tolist() == [0, 0]


def test_knots_are_quantiles_of_many_values() -> None:
    assert place_knots(np.arange(101.0), 5).tolist() == [0, 25, 50, 75, 100]
    assert place_knots(np.array([1.0, 2, 3, 1000]), 3).tolist() == [1, 3, 1000]


def test_between_knots_and_outside() -> None:
    info = info_of(
        "10^^number", "20^^number", "40^^number", also=("25^^number", "15^^number", "99^^number", "-5^^number")
    )
    _, values = rows_of(info)
    by_value = dict(zip(info.scales.values.tolist(), values[info.scales.ids].tolist(), strict=True))
    assert by_value == {10: 10, 20: 20, 40: 40, 25: 25, 15: 15, 99: 40, -5: 10}  # linear inside, constant outside


def test_entities_keep_their_rows_and_scales_are_apart() -> None:
    info = info_of("10^^number", "1903^^date", "5^^quantity:kg")
    rows = ValueRows(info.scales, info.facts, info.num_entities, 2, WIDTH)
    torch.nn.init.normal_(rows.rows)
    table = torch.randn(info.num_entities, WIDTH)
    result, _ = rows(table, torch.zeros(info.num_entities))
    is_literal = torch.zeros(info.num_entities, dtype=torch.bool)
    is_literal[torch.from_numpy(info.scales.ids)] = True
    assert torch.equal(result[~is_literal], table[~is_literal])
    assert torch.equal(result[torch.from_numpy(info.scales.ids)], rows.rows[::2])  # the first knot of each scale


def test_frequent_literals_also_have_rows_of_their_own() -> None:
    vocabulary = Vocabulary.of([*(f"P{i}" for i in range(10)), "1^^number", "2^^number"], ["earns"])
    facts = [Fact(f"P{i}", "earns", "1^^number") for i in range(10)] + [Fact("P0", "earns", "2^^number")]
    rows = ValueRows(vocabulary.scales, FactTable.from_facts(facts, vocabulary), 12, 2, WIDTH)
    torch.nn.init.zeros_(rows.rows)
    with torch.no_grad():
        table, biases = rows(torch.ones(12, WIDTH), torch.ones(12))
    frequent, rare = vocabulary.entity("1^^number"), vocabulary.entity("2^^number")
    assert (table[frequent].tolist(), float(biases[frequent])) == ([1] * WIDTH, 1)
    assert (table[rare].tolist(), float(biases[rare])) == ([0] * WIDTH, 0)


@given(
    st.lists(st.integers(-1000, 1000), min_size=1, max_size=12, unique=True),
    st.lists(st.integers(-2000, 2000), max_size=12, unique=True),
    st.integers(2, 5),
)
def test_interpolation_is_monotone_and_exact_at_knots(seen: list[int], others: list[int], num_knots: int) -> None:
    info = info_of(*(f"{n}^^number" for n in seen), also=tuple(f"{n}^^number" for n in others))
    rows, values = rows_of(info, num_knots)
    knots = rows.knots[0]
    order = np.argsort(info.scales.values)
    by_value = values[info.scales.ids[order]].double()
    exact = torch.from_numpy(info.scales.values[order])
    assert (by_value.diff() >= -1e-3).all()
    at_knots = torch.isin(exact, knots)
    assert torch.equal(by_value[at_knots], exact[at_knots])
    inside = (exact >= knots[0]) & (exact <= knots[-1])
    torch.testing.assert_close(by_value[inside], exact[inside], atol=1e-3, rtol=1e-5)  # linear through linear knots
    _, _, weight = rows.interpolation()
    assert ((weight >= 0) & (weight <= 1)).all()


def test_growing_moves_no_knot() -> None:
    settings = GranSettings(num_layers=1, num_heads=2, hidden_dim=4, ffn_dim=4, value_knots=3)
    smaller = Gran(settings, info_of("10^^number", "20^^number", "40^^number"))
    values = ("10^^number", "20^^number", "40^^number")
    vocabulary = Vocabulary.of(["Ada", *values], ["earns"]).with_names(
        Vocabulary.of(["1^^quantity:kg", "30^^number"], [])
    )
    facts = [Fact("Ada", "earns", name) for name in (*values, "30^^number", "1^^quantity:kg")]
    table = FactTable.from_facts(facts, vocabulary)
    larger = Gran(settings, DatasetInfo(len(vocabulary.entities), 1, 2, table, vocabulary.scales))
    new_rows = take_weights(larger, smaller)
    assert larger.value_rows is not None
    assert smaller.value_rows is not None
    assert larger.value_rows.knots.tolist() == [[10, 20, 40], [1, 1, 1]]
    assert new_rows["value_rows.rows"].tolist() == [3, 4, 5]
    assert torch.equal(larger.candidates("entity")[0][:4], smaller.candidates("entity")[0])
    middle = larger.candidates("entity")[0][vocabulary.entity("30^^number")]
    torch.testing.assert_close(middle, smaller.value_rows.rows[1:].mean(0))


def test_growing_into_literals() -> None:
    settings = GranSettings(num_layers=1, num_heads=2, hidden_dim=4, ffn_dim=4, value_knots=3)
    smaller = Gran(settings, info_of("Bob"))
    new_rows = take_weights(Gran(settings, info_of("Bob", "7^^number")), smaller)
    assert smaller.value_rows is None
    assert {"value_rows.rows", "value_rows.bias"} <= new_rows.keys()
    assert "value_rows.knots" not in new_rows


def test_scores_with_other_rows_than_the_inputs_are_refused() -> None:
    with pytest.raises(SettingError, match="tie_embeddings"):
        Gran(GranSettings(value_knots=3, tie_embeddings=False), info_of("7^^number"))
