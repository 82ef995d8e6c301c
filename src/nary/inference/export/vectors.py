"""Export the vectors of all entities and relations, in the order of :meth:`Source.rows`."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from nary.data.dataset import Dataset
from nary.errors import SettingError
from nary.facts import Vocabulary, parquet
from nary.models.base import Model

_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
Row = tuple[str, str, str, int]
"""Name, label, kind and id."""


@dataclass(frozen=True)
class Source:
    """A model and its dataset; ``arity`` matters to programs only."""

    model: Model
    dataset: Dataset
    arity: int

    @property
    def vocabulary(self) -> Vocabulary:
        """The names of the candidates."""
        return self.dataset.vocabulary

    def rows(self) -> list[Row]:
        """Every candidate, in the order of :meth:`vectors`: the entities and then the relations, by id."""
        kinds = (("entity", self.vocabulary.entities), ("relation", self.vocabulary.relations))
        return [(name, self.vocabulary.label(name), kind, i) for kind, names in kinds for i, name in enumerate(names)]

    def vectors(self) -> npt.NDArray[np.float32]:
        """The vectors candidates are scored with [E + R, d]; their biases are no part of them."""
        tables = [self.model.candidates(kind)[0].detach().float().cpu().numpy() for kind in ("entity", "relation")]
        return np.concatenate(tables)

    def check(self) -> None:
        """Refuse a model without vectors."""
        try:
            self.model.candidates("relation")
        except NotImplementedError:
            raise SettingError(
                f"{self.model.name} has no vectors of entities and relations, so it cannot be exported",
                "Export a model that has them, such as gran.",
            ) from None


def write_tsv(source: Source, path: Path) -> None:
    """One vector per line, separated by tabs, as embedding projectors read them."""
    with path.open("wb") as file:
        pl.DataFrame(source.vectors()).write_csv(file, include_header=False, separator="\t")


def write_npy(source: Source, path: Path) -> None:
    """An array [E + R, d] of float32."""
    with path.open("wb") as file:
        np.save(file, source.vectors(), allow_pickle=False)


def write_parquet(source: Source, path: Path) -> None:
    """One vector per row: name, label, kind, id, vector."""
    vectors = pl.Series("vector", source.vectors()).arr.to_list()
    frame = pl.DataFrame(source.rows(), ["name", "label", "kind", "id"], orient="row").with_columns(vectors)
    parquet.write_parquet(frame, path)


def write_names(source: Source, path: Path) -> None:
    r"""A header, then a candidate per line: name, label, kind, id; tabs and line ends are escaped (``\t``, ``\n``)."""
    lines = [("name", "label", "kind", "id"), *source.rows()]
    text = "".join("\t".join(str(cell).translate(_ESCAPES) for cell in line) + "\n" for line in lines)
    path.write_bytes(text.encode())
