"""Writing facts: a dataset to one file with all its splits, or to a folder with a file a split."""

import csv
import io
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import orjson

from nary.data.dataset import Dataset
from nary.data.files import atomic_file, atomic_path
from nary.data.formats import by_extension, extension, known
from nary.data.formats.parquet import write_parquet
from nary.errors import OutputError
from nary.facts import FactTable, Vocabulary
from nary.progress import Progress, no_progress

Plain: TypeAlias = tuple[str, str, str, list[tuple[str, str]]]
"""Subject, relation, object, qualifiers."""

_EXTENSIONS = {"jsonl": ".jsonl", "parquet": ".parquet", "hyper-relational": ".tsv", "gran": ".json"}
_FACTS_AT_A_TIME = 8192


def write(dataset: Dataset, out: Path, *, format: str | None = None, progress: Progress = no_progress) -> None:
    """Write ``dataset`` to ``out``, which appears whole or not at all.

    A path with an extension is a file and gets all facts; each names its split if there are several. Any other path is
    a folder and gets a file a split, and the labels. The format is told from the extension; in a folder it is JSON
    Lines.
    """
    if out.is_dir() or not out.suffix:
        _write_folder(dataset, out, _writable(format or "jsonl"), progress)
        return
    told = format or by_extension(out)
    if told is None:
        wanted = ", ".join((*_EXTENSIONS.values(), ".csv"))
        raise OutputError(f"cannot tell a format from the name {out.name!r}", f"Give --format, or one of {wanted}.")
    name = _writable(told)
    several = len(dataset.splits) > 1
    if several and name not in ("jsonl", "parquet"):
        raise OutputError(
            f"{name} files cannot name the split of a fact, and {dataset.name} has {len(dataset.splits)} splits",
            "Give a folder, which gets a file a split, or write .jsonl or .parquet.",
        )
    if name == "parquet":
        with atomic_path(out) as temporary:
            write_parquet(dataset.splits, dataset.vocabulary, temporary, with_split=several)
    else:
        _write_lines(dataset.splits, dataset.vocabulary, out, name, progress)


def _write_folder(dataset: Dataset, out: Path, format: str, progress: Progress) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise OutputError(f"{out} exists and is not an empty folder", "Choose another name, or remove it first.")
    with atomic_path(out) as folder:
        folder.mkdir()
        for split, table in dataset.splits.items():
            one = Dataset(dataset.name, dataset.vocabulary, {split: table})
            write(one, folder / (split + _EXTENSIONS[format]), format=format, progress=progress)
        if dataset.vocabulary.labels:
            lines = [f"{name}\t{label}\n" for name, label in sorted(dataset.vocabulary.labels.items())]
            (folder / "labels.tsv").write_text("".join(lines), encoding="utf-8")


def _writable(format: str) -> str:
    if known(format) not in _EXTENSIONS:
        raise OutputError(f"facts cannot be written as {format}", f"Formats to write: {', '.join(_EXTENSIONS)}.")
    return format


def _write_lines(
    splits: Mapping[str, FactTable], vocabulary: Vocabulary, out: Path, format: str, progress: Progress
) -> None:
    total, done = sum(len(table) for table in splits.values()), 0
    with atomic_file(out) as file:
        for split, table in splits.items():
            facts = table.decode(vocabulary.entities, vocabulary.relations)
            as_line = _line_writer(format, out, split if len(splits) > 1 else None)
            while lines := [as_line(fact) for fact in islice(facts, _FACTS_AT_A_TIME)]:
                file.write(b"".join(lines))
                done += len(lines)
                progress(done, total)


def _line_writer(format: str, out: Path, split: str | None) -> Callable[[Plain], bytes]:
    if format == "hyper-relational":
        return _Separated("," if extension(out) == ".csv" else "\t")
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
        self.special = (separator, '"')
        self.buffer = io.StringIO()
        self.writer = csv.writer(self.buffer, delimiter=separator, lineterminator="\n")

    def __call__(self, fact: Plain) -> bytes:
        subject, relation, object, pairs = fact
        fields = [subject, relation, object, *(name for pair in pairs for name in pair)]
        for name in fields:
            if "\n" in name or "\r" in name:
                raise OutputError(f"the name {name!r} holds a line end", "Write .jsonl or .parquet, which can hold it.")
        self.writer.writerow(fields)
        line = self.buffer.getvalue()
        self.buffer.seek(0)
        self.buffer.truncate()
        return line.encode()


def _gran(fact: Plain) -> bytes:
    subject, relation, object, pairs = fact
    head = {"N": 2 + len(pairs), "relation": relation, "subject": subject, "object": object}
    values: dict[str, list[str]] = {}
    for attribute, value in pairs:
        values.setdefault(attribute, []).append(value)
    if clash := head.keys() & values.keys():
        raise OutputError(f"the gran format has no room for an attribute named {min(clash)!r}", "Write .jsonl instead.")
    return orjson.dumps({**head, **values}, option=orjson.OPT_APPEND_NEWLINE)
