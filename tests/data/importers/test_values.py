"""Columns of values: what they are recognized as, and the exact names they get."""

from datetime import UTC, date, datetime, time
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.data.importers.values import as_text, guess_type, literal_names, without_missing
from nary.facts.literal import Literal


def read(*texts: str, name: str = "") -> tuple[str, list[str | None]]:
    column = without_missing(pl.Series(texts, dtype=pl.String))
    type = guess_type(column, name)
    return type, literal_names(column, type).to_list()


@pytest.mark.parametrize(
    ("texts", "type", "values"),
    [
        (["1", "2.50", "-0", "+7", "1e5", "NULL", " 3 "], "number", ["1", "2.5", "0", "7", "100000", None, "3"]),
        (["66,000", "1,250.5", "12"], "number", ["66000", "1250.5", "12"]),
        (["2025-01-02", "2024-12", "-0044-03-15"], "date", ["2025-01-02", "2024-12", "-0044-03-15"]),
        (["1.3.2025", "31.12.2024"], "date", ["2025-03-01", "2024-12-31"]),
        (["3/1/2025", "3/31/2025"], "date", ["2025-03-01", "2025-03-31"]),
        (["1/3/2025", "31/3/2025"], "date", ["2025-03-01", "2025-03-31"]),
        (["2025-01-02 10:11:12", "2025-01-02T10:11:12.500000+0000"], "datetime",
         ["2025-01-02T10:11:12", "2025-01-02T10:11:12.5Z"]),
        (["2025-01-02T10:11:12.000+02:00[Europe/Berlin]"], "datetime", ["2025-01-02T10:11:12+02:00"]),
        (["10:11", "10:11:12.500"], "time", ["10:11", "10:11:12.5"]),
    ],
)  # fmt: skip
def test_literals(texts: list[str], type: str, values: list[str | None]) -> None:
    assert read(*texts) == (type, [None if value is None else f"{value}^^{type}" for value in values])


@pytest.mark.parametrize(
    "texts",
    [["007", "12"], ["a", "1"], ["3/1/2025", "3/2/2025"], ["2025-13-01"], ["1.2.3"], ["1,5"], ["12:61"], ["", "NA"]],
    ids=["codes", "mixed", "day or month", "month 13", "version", "decimal comma", "minute 61", "nothing"],
)
def test_entities(texts: list[str]) -> None:
    assert read(*texts) == ("entity", [text if text not in ("", "NA") else None for text in texts])


def test_years_are_dates_by_the_name_of_their_column() -> None:
    assert read("2019", "2020", name="Year founded") == ("date", ["2019^^date", "2020^^date"])
    assert read("2019", "2020")[0] == "number"


@pytest.mark.parametrize(
    ("column", "type", "values"),
    [
        (pl.Series([1, None, -5]), "number", ["1", None, "-5"]),
        (pl.Series([1.0, float("nan"), 1e-9, 66000.0, 0.1]), "number", ["1", None, "0.000000001", "66000", "0.1"]),
        (pl.Series([Decimal("1.50")]), "number", ["1.5"]),
        (pl.Series([date(2025, 1, 2)]), "date", ["2025-01-02"]),
        (pl.Series([datetime(2025, 1, 2, 3, 4, 5)]), "datetime", ["2025-01-02T03:04:05"]),
        (pl.Series([datetime(2025, 1, 2, tzinfo=UTC)]), "datetime", ["2025-01-02T00:00:00Z"]),
        (pl.Series([time(3, 4)]), "time", ["03:04:00"]),
    ],
)
def test_typed_columns(column: pl.Series, type: str, values: list[str | None]) -> None:
    texts, kind = as_text(column)
    assert kind == type
    assert literal_names(texts, kind).to_list() == [None if value is None else f"{value}^^{type}" for value in values]


def test_other_typed_columns_are_entities() -> None:
    assert as_text(pl.Series([True, None]))[0].to_list() == ["true", None]
    assert as_text(pl.Series(["1", "2"]))[1] == "entity"  # text stays text, even if it looks like a number
    assert as_text(pl.Series(["a", "b"], dtype=pl.Categorical))[0].to_list() == ["a", "b"]


@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30), min_size=1))
def test_numbers_are_named_as_single_literals_are(numbers: list[Decimal]) -> None:
    texts = [str(number) for number in numbers]
    expected = [Literal.of(number).name for number in numbers]
    column = pl.Series(texts, dtype=pl.String)
    names = literal_names(column, "number").to_list()
    assert [name for name, text in zip(names, texts, strict=True) if name] == [
        name for name, got in zip(expected, names, strict=True) if got
    ]
    assert all(name or "E" in text for name, text in zip(names, texts, strict=True))  # only huge exponents are refused
