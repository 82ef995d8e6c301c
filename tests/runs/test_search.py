"""What is tried: grids, ranges, and searches that follow from their seeds."""

import random
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.errors import MissingExtraError, SettingError
from nary.runs.search import new_search
from nary.runs.space import Range, Space, combinations, parse_space


def test_a_grid_is_written_as_toml_or_in_plain_words() -> None:
    space = parse_space(["training.learning_rate=1e-3, 2e-3", "model.variant=hete,homo", "training.merge_queries=true"])
    assert space == {
        "training.learning_rate": [1e-3, 2e-3],
        "model.variant": ["hete", "homo"],
        "training.merge_queries": [True],
    }
    for text in ("training.learning_rate", "training.learning_rate=", "training.learning_rate=1,,2", "learning_rate=1"):
        with pytest.raises(SettingError, match="cannot read"):
            parse_space([text])
    with pytest.raises(SettingError, match="given twice"):
        parse_space(["model.dropout=0.1", "model.dropout=0.2"])


spaces = st.dictionaries(
    st.sampled_from(["model.a", "model.b", "training.c"]),
    st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True),
    min_size=1,
)


@given(spaces, st.integers(1, 70), st.integers(0, 5))
def test_random_search_proposes_distinct_settings_that_follow_from_the_seed(
    space: Space, trials: int, seed: int
) -> None:
    proposed = list(new_search("random", space, trials, seed))
    everything = combinations(space)
    assert len(proposed) == min(trials, len(everything))
    assert len({tuple(values.items()) for values in proposed}) == len(proposed)
    assert all(values in everything for values in proposed)
    assert proposed == list(new_search("random", space, trials, seed))


def test_a_grid_is_gone_through_in_order() -> None:
    space: Space = {"model.a": [1, 2], "training.b": ["x", "y"]}
    assert [tuple(values.values()) for values in new_search("grid", space, None, 0)] == [
        *((1, "x"), (1, "y")),
        *((2, "x"), (2, "y")),
    ]


def test_searches_that_make_no_sense_are_refused() -> None:
    for kind, trials, message in (
        ("grid", 3, "tries everything"),
        ("random", 0, "--trials 0"),
        ("best", None, "--search best"),
        ("grid", None, "cannot try all of the range"),
    ):
        with pytest.raises(SettingError, match=message):
            new_search(kind, {"model.a": [1, 2] if "range" not in message else Range(1, 2)}, trials, 0)


def test_tpe_goes_where_scores_are_high_and_repeats_itself_by_seed() -> None:
    pytest.importorskip("optuna")
    space: Space = {"model.a": list(range(12)), "training.b": list(range(12))}

    def asked(seed: int) -> list[tuple[int, ...]]:
        proposed = []
        proposals = new_search("tpe", space, 40, seed)
        values = next(proposals, None)
        while values is not None:
            proposed.append(tuple(values.values()))
            try:
                values = proposals.send(-abs(values["model.a"] - 3) - abs(values["training.b"] - 8))
            except StopIteration:
                break
        return proposed

    proposed = asked(1)
    assert len(set(proposed)) == len(proposed) == 40
    assert proposed == asked(1)

    def distance(part: list[tuple[int, ...]]) -> float:
        return sum(abs(a - 3) + abs(b - 8) for a, b in part) / len(part)

    assert distance(proposed[20:]) < distance(proposed[:10])


def test_tpe_without_its_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError) as caught:
        next(new_search("tpe", {"model.a": [1, 2]}, None, 0))
    assert caught.value.hint == "Install it with: pip install 'nary[tune]'"


def test_a_range_is_written_with_its_scale() -> None:
    space = parse_space(["model.dropout=0.1"], ["training.learning_rate=1e-4:1e-2:log", "training.batch_size=64:512"])
    assert space == {
        "model.dropout": [0.1],
        "training.learning_rate": Range(1e-4, 1e-2, log=True),
        "training.batch_size": Range(64, 512),
    }
    for text in ("a.b", "a.b=1", "a.b=1:", "a.b=x:2", "a.b=1:2:3", "a.b=1:2:log:log", "a.b=true:2"):
        with pytest.raises(SettingError, match="cannot read the range"):
            parse_space([], [text])
    for text in ("a.b=2:1", "a.b=1:1", "a.b=0:1:log"):
        with pytest.raises(SettingError, match="not a range"):
            parse_space([], [text])
    with pytest.raises(SettingError, match="given twice"):
        parse_space(["model.dropout=0.1"], ["model.dropout=0.1:0.2"])


@given(st.floats(1e-6, 1.0), st.floats(1.01, 1e6), st.booleans(), st.integers(0, 9))
def test_numbers_of_a_range_lie_in_it(low: float, ratio: float, log: bool, seed: int) -> None:
    drawn = Range(low, low * ratio, log=log).draw(random.Random(seed))
    assert low * 0.99 <= drawn <= low * ratio * 1.01  # rounded to three digits
    whole = Range(3, 3 + int(ratio), log=log).draw(random.Random(seed))
    assert isinstance(whole, int)
    assert 3 <= whole <= 3 + int(ratio)


def test_a_logarithmic_range_has_as_many_small_numbers_as_large() -> None:
    search = new_search("random", {"training.learning_rate": Range(1e-4, 1e-2, log=True)}, 200, 0)
    drawn = [values["training.learning_rate"] for values in search]
    assert len(set(drawn)) == 200
    assert 70 < sum(value < 1e-3 for value in drawn) < 130


def test_tpe_searches_ranges_too() -> None:
    pytest.importorskip("optuna")
    search = new_search("tpe", {"training.learning_rate": Range(1e-4, 1e-2, log=True), "model.a": [1, 2]}, 30, 0)
    values, rates = next(search), []
    for _ in range(29):
        rates.append(values["training.learning_rate"])
        values = search.send(-abs(rates[-1] - 5e-3))
    distances = [abs(rate - 5e-3) for rate in rates]
    assert sum(distances[15:]) < sum(distances[:10])
