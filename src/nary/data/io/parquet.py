"""Parquet: columns subject, relation, object, qualifiers (lists of attribute and value), and optionally split."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from nary.data.dataset import SPLITS
from nary.data.files import Source
from nary.data.io.base import FactColumns, Format, ParsedChunk, Problem
from nary.errors import DataError
from nary.facts import Block, FactTable, Vocabulary
from nary.facts.layout import OBJECT, RELATION, SUBJECT
from nary.facts.names import pieces
from nary.facts.parquet import quiet_panics, write_parquet_parts
from nary.facts.parquet_footer import check_parquet_size
from nary.progress import Progress, no_progress

_PAIR = pl.Struct({"attribute": pl.String, "value": pl.String})
_SCHEMA: dict[str, pl.DataType] = {
    "subject": pl.String(),
    "relation": pl.String(),
    "object": pl.String(),
    "qualifiers": pl.List(_PAIR),
}
_SCHEMA_WITH_SPLITS: dict[str, pl.DataType] = {**_SCHEMA, "split": pl.String()}
_ROWS = 1 << 17


class Parquet(Format):
    """A Parquet file, which must be a plain file: neither compressed as a whole nor standard input."""

    extensions = (".parquet",)
    output_extension = ".parquet"
    stores_splits = True

    def read(self, source: Source, first_lines: int | None = None) -> Generator[ParsedChunk, None, None]:
        """Read the file in slices of rows."""
        if source.head and (source.compression or str(source.path) == "-"):
            raise DataError(
                "contains Parquet, which is only read from a plain file", "Unpack it to a file.", source.name
            )
        try:
            check_parquet_size(source.path)
            frame = pl.scan_parquet(source.path, glob=False)
            with quiet_panics():
                schema = dict(frame.collect_schema())
            _check_schema(schema, source.name)
            frame = frame if first_lines is None else frame.head(first_lines)
            with quiet_panics():
                rows = frame.select(pl.len()).collect().item()
            for start in range(0, rows, _ROWS):
                with quiet_panics():
                    part = frame.slice(start, _ROWS).collect()
                yield parse_frame(part, start)
        except (OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            reason = str(error).splitlines()[0]
            raise DataError(f"cannot be read as Parquet: {reason}", "Get the file again.", source.name) from None

    def write(
        self,
        path: Path,
        splits: Mapping[str | None, FactTable],
        vocabulary: Vocabulary,
        progress: Progress = no_progress,
    ) -> None:
        """Write the facts in parts."""
        schema = _SCHEMA if None in splits else _SCHEMA_WITH_SPLITS
        write_parquet_parts(_frames(splits, vocabulary, progress), schema, path)


def _check_schema(schema: Mapping[str, pl.DataType], file: str) -> None:
    if schema != (_SCHEMA_WITH_SPLITS if "split" in schema else _SCHEMA):
        columns = ", ".join(f"{name}: {kind}" for name, kind in schema.items())
        expected = ", ".join(f"{name}: {kind}" for name, kind in _SCHEMA.items())
        raise DataError(f"it has the columns {columns}", f"Expected {expected}, and optionally split: String.", file)


def parse_frame(frame: pl.DataFrame, start: int) -> ParsedChunk:
    """Parse consecutive rows, the first of which is row ``start`` of the file."""
    problems = _problems(frame, start)
    valid = np.ones(frame.height, bool)
    valid[[problem.line - 1 - start for problem in problems]] = False
    facts = frame.filter(valid)
    counts = facts["qualifiers"].list.len().to_numpy().astype(np.int64)
    pairs = facts["qualifiers"].filter(counts > 0).explode()
    heads = interleave(facts["relation"], facts["subject"], facts["object"])
    names = pl.concat([heads, interleave(pairs.struct.field("attribute"), pairs.struct.field("value"))])
    splits = facts["split"] if "split" in facts.columns else None
    return ParsedChunk(frame.height, [FactColumns(np.flatnonzero(valid) + start, counts, names, splits)], problems)


def interleave(*columns: pl.Series) -> pl.Series:
    """Merge columns [n] into one: the first element of each, then the second of each, and so on."""
    size = len(columns[0])
    return pl.concat(columns).gather(np.arange(size * len(columns)).reshape(len(columns), size).T.ravel())


def _problems(frame: pl.DataFrame, start: int) -> list[Problem]:
    """Find the rows that are not facts; of several problems of a row the first is reported."""

    def bad(label: pl.Expr) -> pl.Expr:
        return label.is_null() | label.is_in(["", "?"]) | label.str.contains("\0", literal=True)

    pair = pl.element().struct
    checks = {
        ("bad label", "a label is missing, empty, ? or contains a NUL character"): pl.any_horizontal(
            bad(pl.col("subject")),
            bad(pl.col("relation")),
            bad(pl.col("object")),
            pl.col("qualifiers").is_null(),
            pl.col("qualifiers").list.eval(bad(pair.field("attribute")) | bad(pair.field("value"))).list.any(),
        )
    }
    if "split" in frame.columns:
        unknown = pl.col("split").is_null() | ~pl.col("split").is_in(SPLITS)
        checks["unknown split", f"the split is none of {', '.join(SPLITS)}"] = unknown
    problems: dict[int, Problem] = {}
    for (reason, message), check in checks.items():
        for row in np.flatnonzero(frame.select(check.fill_null(True)).to_series().to_numpy()).tolist():
            problems.setdefault(row, Problem(start + row + 1, reason, message))
    return [problems[row] for row in sorted(problems)]


def to_frame(splits: Mapping[str | None, FactTable], vocabulary: Vocabulary) -> pl.DataFrame:
    """Return the facts as rows, in their order, each with the name of its split unless that is None."""
    empty = pl.DataFrame(schema=_SCHEMA if None in splits else _SCHEMA_WITH_SPLITS)
    return pl.concat([empty, *_frames(splits, vocabulary)])


def _frames(
    splits: Mapping[str | None, FactTable], vocabulary: Vocabulary, progress: Progress = no_progress
) -> Iterator[pl.DataFrame]:
    """The facts as rows, some at a time."""
    entities, relations = _column(vocabulary.entities), _column(vocabulary.relations)
    total, done = sum(map(len, splits.values())), 0
    for split, table in splits.items():
        for start in range(0, len(table), _ROWS):
            blocks = [_to_frame(block, entities, relations) for block in table.blocks_between(start, start + _ROWS)]
            frame = pl.concat(blocks).sort("row").drop("row")
            done += frame.height
            progress(done, total)
            yield frame if split is None else frame.with_columns(split=pl.lit(split))


def _column(names: Sequence[str]) -> pl.Series:
    return pl.concat([pl.Series(piece, dtype=pl.String) for piece in ([], *pieces(names))])


def is_frame_of_facts(frame: pl.DataFrame) -> bool:
    """Whether a data frame has the columns of a file of facts."""
    return dict(frame.schema) in (_SCHEMA, _SCHEMA_WITH_SPLITS)


def _to_frame(block: Block, entities: pl.Series, relations: pl.Series) -> pl.DataFrame:
    if block.qualifiers:
        attributes, values = relations.gather(block.attributes.ravel()), entities.gather(block.values.ravel())
        pairs = pl.DataFrame({"attribute": attributes, "value": values}).to_struct()
        qualifiers = pairs.reshape((len(block), block.qualifiers)).arr.to_list()
    else:
        qualifiers = pl.Series([[]], dtype=pl.List(_PAIR)).new_from_index(0, len(block))
    return pl.DataFrame(
        {
            "subject": entities.gather(block.ids[:, SUBJECT]),
            "relation": relations.gather(block.ids[:, RELATION]),
            "object": entities.gather(block.ids[:, OBJECT]),
            "qualifiers": qualifiers,
            "row": block.rows,
        }
    )
