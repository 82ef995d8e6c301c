"""Datasets from data frames of polars or pandas, and back."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from nary.data.dataset import SPLITS, Dataset
from nary.data.importers.guess import Choices, guess_mapping
from nary.data.importers.property_graph import build_dataset
from nary.data.importers.tables import Table
from nary.data.io.encoder import Encoder
from nary.data.io.parquet import is_frame_of_facts, parse_frame, to_frame
from nary.errors import DataError, SettingError


def from_dataframe(edges: Any, nodes: Any = None, name: str = "data frame", **choices: Any) -> Dataset:
    """Make a dataset of edges, or of the columns that :func:`to_polars` returns; see :meth:`Dataset.from_dataframe`."""
    frame = _to_polars(edges)
    if is_frame_of_facts(frame):
        return _from_facts(frame, name)
    try:
        chosen = Choices(**choices)
    except TypeError as error:
        raise SettingError(str(error).partition(") ")[2], "See Dataset.from_dataframe.") from None
    tables = [Table("edges", frame)]
    node_tables = [] if nodes is None else [Table("nodes", _to_polars(nodes))]
    mapping = guess_mapping(tables, node_tables, chosen)
    return build_dataset(name, {table.name: table for table in (*tables, *node_tables)}, mapping)


def to_polars(dataset: Dataset) -> pl.DataFrame:
    """Return all facts: subject, relation, object, qualifiers (lists of attribute and value) and split."""
    return to_frame({split: dataset[split] for split in dataset.splits}, dataset.vocabulary)


def as_pandas(frame: pl.DataFrame) -> Any:
    """Return ``frame`` as one of pandas, which must be installed; pyarrow need not be."""
    try:
        import pandas  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise SettingError("pandas is not installed", "Install it with: pip install pandas") from None
    return pandas.DataFrame({column.name: column.to_list() for column in frame})


def _from_facts(frame: pl.DataFrame, name: str) -> Dataset:
    chunk = parse_frame(frame, 0)
    for problem in chunk.problems:
        raise DataError(problem.message, problem.hint, name, problem.line)
    encoder = Encoder()
    for columns in chunk.columns:
        encoder.add(columns, "train")
    vocabulary, tables = encoder.finish()
    return Dataset(name, vocabulary, {split: tables[split] for split in SPLITS if split in tables})


def _to_polars(frame: Any) -> pl.DataFrame:
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        polars_frame = frame
    elif type(frame).__module__.partition(".")[0] == "pandas" and hasattr(frame, "columns"):
        names = [str(column) for column in frame.columns]
        if repeated := [name for name in names if names.count(name) > 1]:
            raise SettingError(f"two columns are called {repeated[0]!r}", "Rename one of them.")
        polars_frame = pl.DataFrame(
            {name: _from_pandas(frame[key], name) for name, key in zip(names, frame.columns, strict=True)}
        )
    else:
        raise SettingError(f"{type(frame).__name__} is no data frame", "Give one of polars or pandas.")
    if not polars_frame.height:
        raise DataError("the data frame has no rows", "Expected at least one row.")
    return polars_frame


def _from_pandas(column: Any, name: str) -> pl.Series:
    """Convert a column without pyarrow; missing values become null, and times that are all midnight dates."""
    values: Sequence[Any] = column.astype(object).where(column.notna(), None).tolist()
    series = pl.Series(values, strict=False)
    if series.dtype == pl.Object:
        raise SettingError(f"the column {name!r} holds Python objects", "Give texts, numbers, dates or lists of them.")
    if isinstance(series.dtype, pl.Datetime) and not series.dtype.time_zone:
        dates = series.dt.date()
        return dates if (dates.cast(series.dtype) == series).all() else series
    return series
