"""The vectors of all entities and relations as files; :class:`Source` says in which order."""

from pathlib import Path

import numpy as np
import polars as pl

from nary.inference.export.source import Source

_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})


def write_tsv(source: Source, path: Path) -> None:
    """A line a vector, numbers divided by tabs, as embedding projectors read them."""
    with path.open("wb") as file:
        pl.DataFrame(source.vectors()).write_csv(file, include_header=False, separator="\t")


def write_npy(source: Source, path: Path) -> None:
    """An array [E + R, d] of float32."""
    with path.open("wb") as file:
        np.save(file, source.vectors(), allow_pickle=False)


def write_parquet(source: Source, path: Path) -> None:
    """A row a vector: name, label, kind, id, vector."""
    vectors = pl.Series("vector", source.vectors()).arr.to_list()
    frame = pl.DataFrame(source.rows(), ["name", "label", "kind", "id"], orient="row").with_columns(vectors)
    with path.open("wb") as file:
        frame.write_parquet(file)


def write_names(source: Source, path: Path) -> None:
    r"""A line a candidate, below a header: name, label, kind, id; tabs and line ends are written ``\t`` and ``\n``."""
    lines = [("name", "label", "kind", "id"), *source.rows()]
    text = "".join("\t".join(str(cell).translate(_ESCAPES) for cell in line) + "\n" for line in lines)
    path.write_bytes(text.encode())
