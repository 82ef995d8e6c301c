"""The parts of an import under way: files of facts and of entities, and the state after the last complete one."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from nary.data.files import Source, open_to_write
from nary.data.importers.wikidata.ids import IdSet
from nary.data.io.encoder import Encoder
from nary.data.io.formats import FORMATS
from nary.data.io.lines import Record, to_columns
from nary.errors import OutputError
from nary.files.reading import read_bytes
from nary.files.writing import atomic_path

_STATE, _USED = "state.json", "used.bin"


class Parts:
    """Collects facts and entities, and writes a part whenever there are ``size`` of either.

    ``job`` describes the import: a folder of another one is refused. ``lines`` of the dump are in complete parts;
    ``counts`` were taken when the last of these was written.
    """

    def __init__(self, folder: Path, job: Mapping[str, Any], size: int) -> None:
        self.folder, self.size = folder, size
        self.lines, self.complete = 0, 0
        self.counts: dict[str, dict[str, int]] = {}
        self._job = orjson.loads(orjson.dumps(job))
        self._format = str(job["format"])
        self._facts: list[Record] = []
        self._entities: list[str] = []
        self._used = IdSet()
        if (folder / _STATE).exists():
            self._restore()

    def add(self, id: str, label: str, types: Sequence[str], facts: Sequence[Record]) -> bool:
        """Add an entity and its facts; return whether a part is due."""
        if label or types:
            self._entities.append("\t".join((id, label, *types)))
        self._facts += facts
        return len(self._facts) >= self.size or len(self._entities) >= self.size

    def write(self, lines: int, counts: Mapping[str, Mapping[str, int]]) -> None:
        """Write what was added as a part, and the state: so many ``lines`` were read, with these ``counts``."""
        path = self._path("facts", self.complete)
        path.unlink(missing_ok=True)  # of an import that was killed before it wrote the state
        if self._facts:
            encoder = Encoder()
            encoder.add(to_columns(self._facts, range(len(self._facts))), "train")
            vocabulary, tables = encoder.finish()
            with atomic_path(path) as temporary:
                FORMATS.get(self._format)().write(temporary, {None: tables["train"]}, vocabulary)
            self._used.add((*vocabulary.entities, *vocabulary.relations))
        with atomic_path(self._path("entities", self.complete)) as temporary, open_to_write(temporary) as file:
            file.write("".join(f"{line}\n" for line in self._entities).encode())
        with atomic_path(self.folder / _USED) as temporary:
            temporary.write_bytes(self._used.to_bytes())
        self._facts, self._entities = [], []
        self.lines, self.complete = lines, self.complete + 1
        self.counts = {name: dict(each) for name, each in counts.items()}
        state = {"job": self._job, "lines": lines, "complete": self.complete, "counts": self.counts}
        with atomic_path(self.folder / _STATE) as temporary:
            temporary.write_bytes(orjson.dumps(state))

    def join(self, out: Path) -> dict[str, int]:
        """Join all parts in the folder ``out``: facts, labels.tsv and types.tsv; return how many names have which."""
        paths = [path for path in (self._path("facts", i) for i in range(self.complete)) if path.exists()]
        train = out / f"train.{self._format}"
        if self._format == "parquet":
            pl.scan_parquet(paths, glob=False).sink_parquet(train)
        else:
            with train.open("wb") as file:
                for path in paths:
                    with path.open("rb") as part:
                        shutil.copyfileobj(part, file)
        counts = {"ids in the facts": len(self._used), "labels": 0, "types": 0}
        with (out / "types.tsv").open("w", encoding="utf-8", newline="\n") as file:
            classes: set[str] = set()
            for id, _, *types in self._all_entities():
                if types and id in self._used:
                    file.write("\t".join((id, *types)) + "\n")
                    classes.update(types)
                    counts["types"] += 1
        with (out / "labels.tsv").open("w", encoding="utf-8", newline="\n") as file:
            for id, label, *_ in self._all_entities():
                if label and (id in self._used or id in classes):
                    file.write(f"{id}\t{label}\n")
                    counts["labels"] += 1
        return counts

    def _all_entities(self) -> Iterator[list[str]]:
        for number in range(self.complete):
            with Source(self._path("entities", number)) as source:
                for chunk in source.chunks():
                    yield from (line.split("\t") for line in chunk.decode().split("\n") if line)

    def _path(self, what: str, number: int) -> Path:
        ending = f".{self._format}" if what == "facts" else ".tsv.zst"
        return self.folder / f"{what}-{number:05}{ending}"

    def _restore(self) -> None:
        try:
            state = orjson.loads(read_bytes(self.folder / _STATE))
            job, self.lines, self.complete, self.counts = (state[key] for key in ("job", "lines", "complete", "counts"))
            self._used = IdSet.from_bytes(read_bytes(self.folder / _USED, 1 << 30))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise OutputError(
                f"{self.folder} is damaged: {error}", "Remove it, and the import starts from the beginning."
            ) from None
        if job != self._job:
            raise OutputError(
                f"{self.folder} is of an import of another dump, or with other settings",
                "Use the same, choose another folder for the data, or remove it.",
            )
