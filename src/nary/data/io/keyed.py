"""Whole columns of JSON lines whose keys are attributes: ``{..., "N": arity, attribute: [value, ...], ...}``."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl

from nary.data.io.base import FactColumns
from nary.data.io.jsonl import LABEL

ARITY = r'"N": ?([0-9]{1,9})'
QUALIFIERS = rf"(?:, ?{LABEL}: ?\[{LABEL}(?:, ?{LABEL})*\])*"


def parse_keyed(
    lines: pl.Series, usual: pl.Series, heads: tuple[int, int, int], reserved: str
) -> tuple[npt.NDArray[np.bool_], FactColumns | None]:
    """Tell which of ``lines`` [n] are certainly valid, and parse those.

    Valid lines are ``usual`` [n]: they have no escapes, at most one :data:`ARITY`, and :data:`QUALIFIERS` after their
    heads. They state no wrong arity, and no attribute is repeated or matches the pattern ``reserved``. ``heads`` are
    the indices of relation, subject and object among the strings of a line.
    """
    valid = usual.to_numpy()
    rows = np.flatnonzero(valid)
    if not rows.size:
        return valid, None
    lines = lines if valid.all() else lines.gather(rows)
    certain, columns = _split(lines, heads, reserved)
    if not certain.all():
        valid = valid.copy()
        valid[rows[~certain]] = False
        rows = rows[certain]
        columns = _split(lines.filter(certain), heads, reserved)[1]
    return valid, replace(columns, rows=rows)


def _split(lines: pl.Series, heads: tuple[int, int, int], reserved: str) -> tuple[npt.NDArray[np.bool_], FactColumns]:
    """Split usual lines at their quotes, and tell which of them [n] are valid."""
    stated = lines.str.extract(ARITY).cast(pl.Int64)
    fields = lines.str.replace(ARITY, "").str.split('"')  # strings have odd indices
    lengths = fields.list.len().to_numpy().astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    first = 2 * max(heads) + 3  # the first attribute
    per_line = (lengths - first) // 2
    within = np.arange(per_line.sum()) - np.repeat(np.cumsum(per_line) - per_line, per_line)
    places = np.repeat(starts + first, per_line) + 2 * within  # of attributes and values
    row_of = np.repeat(np.arange(len(lines)), per_line)
    flat = fields.explode()
    is_attribute = flat.gather(places + 1).str.starts_with(":").to_numpy()
    attribute_of = np.maximum.accumulate(np.where(is_attribute, np.arange(places.size), 0))
    pairs = np.stack([places[attribute_of], places], 1)[~is_attribute]
    counts = np.bincount(row_of[~is_attribute], minlength=len(lines))
    valid = stated.fill_null(pl.Series(2 + counts)).to_numpy() == 2 + counts
    attributes, rows = flat.gather(places[is_attribute]), row_of[is_attribute]
    repeated = pl.DataFrame({"row": rows, "attribute": attributes}).is_duplicated()
    valid[rows[(repeated | attributes.str.contains(reserved)).to_numpy()]] = False
    head_places = starts[:, None] + 2 * np.array(heads) + 1
    names = flat.gather(np.concatenate([head_places.ravel(), pairs.ravel()]))
    return valid, FactColumns(np.arange(len(lines)), counts, names)
