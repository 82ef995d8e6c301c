"""Scores and predictions as tables that join on the ids of the data they are about.

A fact is spread over columns: its two ends and its relation, called as in the table it was imported from, and a column
for each attribute. Literals are written as their plain values. What Nary adds comes last.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from nary.data.files import extension
from nary.data.importers.mapping import FILE, GraphMapping
from nary.errors import NaryError, OutputError
from nary.facts import Fact, Query, parse_fact, parse_query
from nary.facts.fact import GAP, Element
from nary.facts.literal import Literal
from nary.facts.parquet import write_parquet
from nary.files.writing import atomic_path
from nary.inference.results import Prediction
from nary.inference.scoring import ScoredFact

TABLES = (".csv", ".tsv", ".parquet")
"""Extensions of tables."""

LINES = ("", ".jsonl", ".ndjson", ".json")
"""Extensions of files of JSON Lines."""

PARTS = ("subject", "relation", "object")
"""What the columns of a fact are called by default."""
_PREDICTED: dict[str, Any] = {
    "line": pl.Int64,
    "position": pl.String,
    "rank": pl.Int64,
    "answer": pl.String,
    "label": pl.String,
    "probability": pl.Float64,
    "score": pl.Float64,
    "known": pl.Boolean,
    "value_median": pl.String,
    "value_low": pl.String,
    "value_high": pl.String,
    "error": pl.String,
}
_SCORED: dict[str, Any] = {
    "file": pl.String,
    "line": pl.Int64,
    "plausibility": pl.Float64,
    "known": pl.Boolean,
    "fits_least": pl.String,
    "fits_least_name": pl.String,
    "fits_least_rank": pl.Float64,
    "error": pl.String,
}


def is_table(path: Path) -> bool:
    """Whether the extension is that of a table."""
    return extension(path).lower() in TABLES


def check_table_name(path: Path, others: Collection[str] = ()) -> None:
    """Refuse a name whose extension is neither that of a table nor one of ``others``."""
    if path.suffix.lower() not in (*TABLES, *others):
        known = ", ".join(filter(None, (*TABLES, *others)))
        raise OutputError(f"cannot write a table to {path.name!r}", f"End it in one of {known}.")


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write a table as separated text or Parquet, by its extension."""
    check_table_name(path)
    with atomic_path(path) as temporary:
        if path.suffix.lower() == ".parquet":
            write_parquet(frame, temporary)
        else:
            with temporary.open("wb") as file:
                file.write(frame.write_csv(separator="\t" if path.suffix.lower() == ".tsv" else ",").encode())


def column_names(data: Path) -> tuple[str, str, str]:
    """Return what the columns of subject, relation and object are called in the tables that ``data`` comes from."""
    if not (data / FILE).is_file():
        return PARTS
    tables = {(each.start, each.type or "type", each.end) for each in GraphMapping.read(data / FILE).edges}
    return tables.pop() if len(tables) == 1 else PARTS


def score_table(facts: Iterable[ScoredFact], columns: Sequence[str] = PARTS) -> pl.DataFrame:
    """Return a row for each fact: where it stands, its plausibility, the element that fits least, and its rank.

    A fact without a score has a row too, with the ``error``.
    """
    rows: list[tuple[dict[str, str], dict[str, Any]]] = []
    for one in facts:
        added: dict[str, Any] = {} if one.place is None else {"file": one.place[0], "line": one.place[1]}
        if isinstance(one.score, NaryError):
            added["error"] = one.score.message
        else:
            least = one.score.elements[0]
            added |= {"plausibility": one.score.plausibility, "known": one.score.known, "fits_least": least.position}
            added |= {"fits_least_name": _plain(least.name), "fits_least_rank": least.rank}
        rows.append((_spread(parse_fact(one.fact), columns), added))
    return _frame(rows, columns, _SCORED)


def prediction_table(
    results: Iterable[tuple[int, Prediction | NaryError]], columns: Sequence[str] = PARTS
) -> pl.DataFrame:
    """Return a row for each answer to each query, given with its line; ``rank`` numbers the answers of a query.

    Where numbers or dates are expected, each row also has the median of the value and its interval. A query without
    answers has a row too, and so has a line that is no query, with its ``error``.
    """
    rows: list[tuple[dict[str, str], dict[str, Any]]] = []
    for number, result in results:
        if isinstance(result, NaryError):
            rows.append(({}, {"line": number, "error": result.message}))
            continue
        query = _spread(parse_query(result.query), columns)
        about: dict[str, Any] = {"line": number, "position": result.position}
        if value := result.value:
            names = {"value_median": value.median, "value_low": value.low, "value_high": value.high}
            about |= {column: _plain(name) for column, name in names.items()}
        for rank, answer in enumerate(result.answers, 1):
            added = {
                "rank": rank,
                "answer": _plain(answer.name),
                "label": answer.label,
                "probability": answer.probability,
                "score": answer.score,
                "known": answer.known,
            }
            rows.append((query, {**about, **added}))
        if not result.answers:
            rows.append((query, about))
    return _frame(rows, columns, _PREDICTED)


def _spread(statement: Fact | Query, columns: Sequence[str]) -> dict[str, str]:
    """Return the elements of a fact by column; several values of an attribute are joined by semicolons."""
    primary = (statement.subject, statement.relation, statement.object)
    cells = {column: _plain(element) for column, element in zip(columns, primary, strict=True)}
    for attribute, value in statement.qualifiers:
        column = _plain(attribute)
        text = _plain(value)
        cells[column] = f"{cells[column]};{text}" if column in cells and column not in columns else text
    return cells


def _plain(element: Element) -> str:
    literal = None if element is GAP else Literal.from_name(str(element))
    return literal.value if literal else "?" if element is GAP else str(element)


def _frame(
    rows: Sequence[tuple[Mapping[str, str], Mapping[str, Any]]], columns: Sequence[str], added: Mapping[str, Any]
) -> pl.DataFrame:
    """Join both parts of the rows; an ``added`` column that is called like one of a fact gets an underscore."""
    attributes = list(dict.fromkeys([*columns, *(column for cells, _ in rows for column in cells)]))
    content: dict[str, Any] = {
        column: pl.Series([cells.get(column) for cells, _ in rows], dtype=pl.String) for column in attributes
    }
    for column, kind in added.items():
        name = f"{column}_" if column in attributes else column
        content[name] = pl.Series([values.get(column) for _, values in rows], dtype=kind)
    return pl.DataFrame(content)
