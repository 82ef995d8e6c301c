"""Facts as Parquet: columns subject, relation, object, qualifiers (lists of attribute, value), optionally split."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import polars as pl

from nary.data.dataset import SPLITS
from nary.data.encoding import Columns
from nary.errors import DataError
from nary.facts import FactTable, Vocabulary

MAGIC = b"PAR1"
_PAIR = pl.Struct({"attribute": pl.String, "value": pl.String})
_SCHEMA: dict[str, pl.DataType] = {
    "subject": pl.String(),
    "relation": pl.String(),
    "object": pl.String(),
    "qualifiers": pl.List(_PAIR),
}
_ROWS = 1 << 17


def read_parquet(path: Path) -> Iterator[tuple[Columns, int, list[tuple[int, str, str]]]]:
    """Facts of a file, a part at a time: the good ones, the number of rows, and (row, reason, message) of the bad."""
    try:
        frame = pl.scan_parquet(path, glob=False)
        _check_schema(dict(frame.collect_schema()), path)
        rows = frame.select(pl.len()).collect().item()
        for start in range(0, rows, _ROWS):
            yield _columns(frame.slice(start, _ROWS).collect())
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"cannot be read as Parquet: {reason}", "Get the file again.", str(path)) from None


def _check_schema(found: Mapping[str, pl.DataType], path: Path) -> None:
    if found != {**_SCHEMA, **({"split": pl.String()} if "split" in found else {})}:
        shown = ", ".join(f"{name}: {kind}" for name, kind in found.items())
        wanted = ", ".join(f"{name}: {kind}" for name, kind in _SCHEMA.items())
        raise DataError(f"it has the columns {shown}", f"Expected {wanted}, and optionally split: String.", str(path))


def _columns(part: pl.DataFrame) -> tuple[Columns, int, list[tuple[int, str, str]]]:
    problems = _problems(part)
    right = np.ones(part.height, bool)
    right[[row for row, _, _ in problems]] = False
    kept = part.filter(right)
    counts = kept["qualifiers"].list.len().to_numpy().astype(np.int64)
    pairs = kept["qualifiers"].filter(counts > 0).explode()
    heads = _in_turns(kept["relation"], kept["subject"], kept["object"])
    names = pl.concat([heads, _in_turns(pairs.struct.field("attribute"), pairs.struct.field("value"))])
    splits = kept["split"] if "split" in kept.columns else None
    return Columns(np.flatnonzero(right), counts, names, splits), part.height, problems


def _in_turns(*columns: pl.Series) -> pl.Series:
    """[n] each -> [n * number of columns]: the first of each, then the second of each, ..."""
    size = len(columns[0])
    return pl.concat(columns).gather(np.arange(size * len(columns)).reshape(len(columns), size).T.ravel())


def _problems(part: pl.DataFrame) -> list[tuple[int, str, str]]:
    """(row, reason, message) of every row that is not a fact, one a row."""

    def bad(label: pl.Expr) -> pl.Expr:
        return label.is_null() | label.is_in(["", "?"]) | label.str.contains("\0", literal=True)

    pair = pl.element().struct
    checks = {
        ("bad label", "a label is missing, empty, ? or holds a NUL character"): pl.any_horizontal(
            bad(pl.col("subject")),
            bad(pl.col("relation")),
            bad(pl.col("object")),
            pl.col("qualifiers").is_null(),
            pl.col("qualifiers").list.eval(bad(pair.field("attribute")) | bad(pair.field("value"))).list.any(),
        )
    }
    if "split" in part.columns:
        unknown = pl.col("split").is_null() | ~pl.col("split").is_in(SPLITS)
        checks["unknown split", f"the split is none of {', '.join(SPLITS)}"] = unknown
    found: dict[int, tuple[int, str, str]] = {}
    for (reason, message), check in checks.items():
        for row in np.flatnonzero(part.select(check.fill_null(True)).to_series().to_numpy()).tolist():
            found.setdefault(row, (row, reason, message))
    return [found[row] for row in sorted(found)]


def write_parquet(splits: Mapping[str | None, FactTable], vocabulary: Vocabulary, path: Path) -> None:
    """Write facts by name, in the order they came in; each with the name of its split, unless that is None."""
    entities, relations = pl.Series(vocabulary.entities), pl.Series(vocabulary.relations)
    frames = []
    for split, table in splits.items():
        parts = []
        for block in table.blocks:
            pairs = pl.DataFrame(
                {
                    "attribute": relations.gather(block.attributes.ravel()),
                    "value": entities.gather(block.values.ravel()),
                }
            ).to_struct()
            lists = pairs.reshape((len(block), block.qualifiers)).arr.to_list() if block.qualifiers else None
            none = pl.Series([[]], dtype=pl.List(_PAIR)).new_from_index(0, len(block))
            parts.append(
                pl.DataFrame(
                    {
                        "subject": entities.gather(block.ids[:, 1]),
                        "relation": relations.gather(block.ids[:, 0]),
                        "object": entities.gather(block.ids[:, 2]),
                        "qualifiers": none if lists is None else lists,
                        "row": block.rows,
                    }
                )
            )
        frame = pl.concat(parts).sort("row").drop("row")
        frames.append(frame if split is None else frame.with_columns(split=pl.lit(split)))
    try:
        pl.concat(frames).write_parquet(path)
    except pl.exceptions.PolarsError as error:
        raise OSError(str(error)) from None  # as the system said it: a full disk, for example
