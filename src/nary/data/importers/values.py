"""Columns of values as names: entities stay as they are; numbers, dates and times become the names of literals."""

import polars as pl

from nary.errors import FactError
from nary.facts.literal import MARK, PATTERNS, number_text

VALUE_TYPES = ("entity", "number", "date", "time", "datetime")
"""The types that a column of a table may have; ``entity`` is the name of a node, or any other text."""

MISSING = ("", "?", "NULL", "null", "NaN", "nan", "NA", "N/A", "n/a", "None", "\\N")
"""Texts that mean that there is no value."""

_NUMBER = r"^[+-]?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?$"
_GROUPED = r"^[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?$"
_DATETIME = r"^(-?[0-9]{4,}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}[0-9:.]*)(Z|[+-][0-9]{2}:?[0-9]{2})?(?:\[.*\])?$"
_POINTED = r"^([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})$"
_SLASHED = r"^([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})$"


def without_missing(column: pl.Series) -> pl.Series:
    """Return a column of text with null for every text that means a missing value."""
    stripped = column.str.strip_chars()
    return stripped.set(stripped.is_in(MISSING), None)


def as_text(column: pl.Series) -> tuple[pl.Series, str]:
    """Return a column of any plain type as text, and the type of its values; a text column is one of entities."""
    kind = column.dtype
    if kind.is_numeric():
        return without_missing(column.cast(pl.String)), "number"
    if kind == pl.Date:
        return column.cast(pl.String), "date"
    if kind == pl.Time:
        return column.dt.strftime("%H:%M:%S%.f"), "time"
    if isinstance(kind, pl.Datetime):
        utc = column.dt.convert_time_zone("UTC") if kind.time_zone else column
        return utc.dt.strftime("%Y-%m-%dT%H:%M:%S%.f") + ("Z" if kind.time_zone else ""), "datetime"
    return without_missing(column.cast(pl.String)), "entity"


def guess_type(column: pl.Series, name: str = "") -> str:
    """Guess the type of a column of text: that of all its values, if they have one; ``name`` tells years."""
    values = column.drop_nulls().unique()
    if not len(values):
        return "entity"
    for type in ("number", "date", "datetime", "time"):
        if not literal_values(values, type).has_nulls():
            is_year = "year" in name.lower() and values.str.contains("^[0-9]{4}$").all()
            return "date" if is_year else type
    return "entity"


def literal_names(column: pl.Series, type: str) -> pl.Series:
    """Return the names of the literals in a column of text, null for what is missing or not of that type."""
    return column if type == "entity" else literal_values(column, type) + f"{MARK}{type}"


def literal_values(column: pl.Series, type: str) -> pl.Series:
    """Return the values in a column of text as a literal of ``type`` has them, null where a text is none."""
    normalize = {"number": _numbers, "date": _dates, "time": _times, "datetime": _datetimes}[type]
    values = normalize(column)
    if type == "number":
        return values
    return values.set(~values.str.contains(f"^(?:{PATTERNS[type]})$"), None)


def _numbers(column: pl.Series) -> pl.Series:
    """Bring numbers to their shortest form; leading zeros make codes, not numbers."""
    grouped = column.str.contains(_GROUPED).fill_null(False)
    if grouped.any():
        column = column.zip_with(~grouped, column.str.replace_all(",", "", literal=True))
    column = column.set(~column.str.contains(_NUMBER), None)
    plain = column.str.strip_prefix("+").str.replace(r"(\.[0-9]*?)0+$", "${1}").str.strip_suffix(".")
    plain = plain.set(plain == "-0", "0")
    unusual = (~plain.str.contains(f"^{PATTERNS['number']}$")).fill_null(False)
    if unusual.any():  # in scientific notation, or very long
        texts = column.filter(unusual).unique()
        shortest = pl.Series([_number_or_none(text) for text in texts], dtype=pl.String)
        plain = plain.zip_with(~unusual, column.replace_strict(texts, shortest, default=None, return_dtype=pl.String))
    return plain


def _number_or_none(text: str) -> str | None:
    try:
        return number_text(text)
    except FactError:
        return None


def _dates(column: pl.Series) -> pl.Series:
    """Read dates as in ISO 8601, 1.3.2025, and 3/1/2025 where the values tell which number is the month."""
    if column.str.contains(_POINTED).any():
        column = _reordered(column, _POINTED, day=1, month=2)
    if column.str.contains(_SLASHED).any():
        parts = column.str.extract_groups(_SLASHED).struct.unnest()
        is_day = [bool((parts[name].cast(pl.Int64) > 12).any()) for name in ("1", "2")]
        if is_day == [True, False]:
            return _reordered(column, _SLASHED, day=1, month=2)
        if is_day == [False, True]:
            return _reordered(column, _SLASHED, day=2, month=1)
    return column


def _reordered(column: pl.Series, pattern: str, day: int, month: int) -> pl.Series:
    parts = column.str.extract_groups(pattern).struct.unnest()
    dates = parts["3"] + "-" + parts[str(month)].str.zfill(2) + "-" + parts[str(day)].str.zfill(2)
    return dates.zip_with(dates.is_not_null(), column)


def _times(column: pl.Series) -> pl.Series:
    return column.str.replace(r"(\.[0-9]*?)0+(Z|[+-]|$)", "${1}${2}").str.replace(r"\.(Z|[+-]|$)", "${1}")


def _datetimes(column: pl.Series) -> pl.Series:
    """Read the usual ways to write a date with a time of day, also with a space, a zone, or zeros after the seconds."""
    parts = column.str.extract_groups(_DATETIME).struct.unnest()
    zone = parts["3"].str.replace(r"^([+-][0-9]{2})([0-9]{2})$", "${1}:${2}").str.replace(r"^[+-]00:00$", "Z")
    return parts["1"] + "T" + _times(parts["2"]) + zone.fill_null("")
