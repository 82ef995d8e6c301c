"""Writing facts: a dataset to one file with all its splits, or to a folder with a file a split."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from nary.data.dataset import Dataset
from nary.data.files import PACKED, atomic_path, is_folder, open_to_write
from nary.data.formats import BY_EXTENSION, by_extension, extension, known
from nary.data.formats.parquet import write_parquet
from nary.errors import OutputError
from nary.facts import FactTable, Vocabulary
from nary.progress import Progress, no_progress

Plain: TypeAlias = tuple[str, str, str, list[tuple[str, str]]]
"""Subject, relation, object, qualifiers."""

_EXTENSIONS = {"jsonl": ".jsonl", "parquet": ".parquet", "hyper-relational": ".tsv", "gran": ".json"}
_FACTS_AT_A_TIME = 8192
_MISLEADING = ("{", "[", "\ufeff", "PAR1", "BZh")
"""How a line of fields does not start: a file with such a first line would be taken for one of another kind."""


def write(dataset: Dataset, out: str | Path, *, format: str | None = None, progress: Progress = no_progress) -> None:
    """Write ``dataset`` to ``out``, which appears whole or not at all.

    A path with an extension is a file and gets all facts; each names its split, unless train is the only one. Any other
    path is a folder and gets a file a split, and the labels. The format is told from the extension; in a folder it is
    JSON Lines. A split without facts is left out.
    """
    out = Path(out)
    splits = {split: table for split, table in dataset.splits.items() if len(table)}
    if not splits:
        raise OutputError(f"{dataset.name} has no facts to write")
    folder = is_folder(out) or not out.suffix
    name = _writable(out, format or ("jsonl" if folder else by_extension(out)))
    if folder:
        _write_folder(splits, dataset.vocabulary, out, name, progress)
        return
    if len(splits) > 1 and name not in ("jsonl", "parquet"):
        raise OutputError(
            f"{name} files cannot name the split of a fact, and {dataset.name} has {len(splits)} splits",
            "Give a folder, which gets a file a split, or write .jsonl or .parquet.",
        )
    with atomic_path(out) as temporary:
        by_name = {None if set(splits) == {"train"} else split: table for split, table in splits.items()}
        _write_file(by_name, dataset.vocabulary, temporary, name, progress)


def _writable(out: Path, format: str | None) -> str:
    """``format`` if it can be written to ``out``."""
    if format is None:
        wanted = f"End it in one of {', '.join(BY_EXTENSION)}, or name the format"
        raise OutputError(f"cannot tell a format from the name {out.name!r}", f"{wanted} (--to).")
    if known(format) not in _EXTENSIONS:
        raise OutputError(f"facts cannot be written as {format}", f"Formats to write: {', '.join(_EXTENSIONS)}.")
    if format == "parquet" and out.suffix in PACKED:
        raise OutputError(f"Parquet is packed already, and not as {out.name!r} says", f"Leave {out.suffix} away.")
    return format


def _write_folder(
    splits: Mapping[str, FactTable], vocabulary: Vocabulary, out: Path, format: str, progress: Progress
) -> None:
    with atomic_path(out) as folder:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise OutputError(f"{out} exists and is not an empty folder", "Choose another name, or remove it first.")
        folder.mkdir()
        for split, table in splits.items():
            _write_file({None: table}, vocabulary, folder / (split + _EXTENSIONS[format]), format, progress)
        if vocabulary.labels:
            lines = [_label_line(name, label) for name, label in sorted(vocabulary.labels.items())]
            (folder / "labels.tsv").write_bytes("".join(lines).encode())


def _label_line(name: str, label: str) -> str:
    for text in (name, label):
        if any(mark in text for mark in "\t\n\r"):
            raise OutputError(f"labels.tsv cannot hold {text!r}, for its tab or line end", "Give a file, not a folder.")
    return f"{name}\t{label}\n"


def _write_file(
    splits: Mapping[str | None, FactTable], vocabulary: Vocabulary, path: Path, format: str, progress: Progress
) -> None:
    """Write the facts of ``splits``, each with the name of its split, unless that is None."""
    if format == "parquet":
        write_parquet(splits, vocabulary, path)
        return
    total, done = sum(len(table) for table in splits.values()), 0
    with open_to_write(path) as file:
        for split, table in splits.items():
            facts = table.decode(vocabulary.entities, vocabulary.relations)
            as_line = _line_writer(format, path, split)
            while lines := [as_line(fact) for fact in islice(facts, _FACTS_AT_A_TIME)]:
                file.write(b"".join(lines))
                done += len(lines)
                progress(done, total)


def _line_writer(format: str, path: Path, split: str | None) -> Callable[[Plain], bytes]:
    if format == "hyper-relational":
        return _Separated("," if extension(path) == ".csv" else "\t")
    return _gran if format == "gran" else _JsonLines(split)


class _JsonLines:
    def __init__(self, split: str | None) -> None:
        self.split = {"split": split} if split else {}

    def __call__(self, fact: Plain) -> bytes:
        subject, relation, object, pairs = fact
        content = {"subject": subject, "relation": relation, "object": object, "qualifiers": pairs, **self.split}
        return orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE)


class _Separated:
    def __init__(self, separator: str) -> None:
        self.buffer = io.StringIO()
        self.usual, self.quoting = (
            csv.writer(self.buffer, delimiter=separator, lineterminator="\n", quoting=quoting)
            for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
        )

    def __call__(self, fact: Plain) -> bytes:
        subject, relation, object, pairs = fact
        fields = [subject, relation, object, *(name for pair in pairs for name in pair)]
        for name in fields:
            if "\n" in name or "\r" in name:
                raise OutputError(f"the name {name!r} holds a line end", "Write .jsonl or .parquet, which can hold it.")
        line = self._written(self.usual, fields)
        if line.startswith(_MISLEADING) or line.isspace() or ("/" in subject and "_h" in subject):
            line = self._written(self.quoting, fields)
        return line.encode()

    def _written(self, writer: Any, fields: Sequence[str]) -> str:
        self.buffer.seek(0)
        self.buffer.truncate()
        writer.writerow(fields)
        return self.buffer.getvalue()


def _gran(fact: Plain) -> bytes:
    subject, relation, object, pairs = fact
    head = {"N": 2 + len(pairs), "relation": relation, "subject": subject, "object": object}
    values: dict[str, list[str]] = {}
    for attribute, value in pairs:
        values.setdefault(attribute, []).append(value)
    if clash := head.keys() & values.keys():
        raise OutputError(f"the gran format has no room for an attribute named {min(clash)!r}", "Write .jsonl instead.")
    return orjson.dumps({**head, **values}, option=orjson.OPT_APPEND_NEWLINE)
