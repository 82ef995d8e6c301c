"""Reading files of facts into a dataset, with a report of the lines kept and skipped."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nary.data.dataset import SPLITS, Dataset
from nary.data.files import Source, display_name, is_folder
from nary.data.io.base import Problem
from nary.data.io.encoder import Encoder
from nary.data.io.formats import FORMATS, detect_format
from nary.data.io.mapped import MAPPED, is_mapped, open_mapped
from nary.data.io.sanity import check_lines, check_relations
from nary.errors import DataError, SettingError
from nary.files.reading import read_bytes
from nary.progress import Progress, no_progress
from nary.wording import counted

_PROBLEMS_KEPT = 10
_MAX_LABELS = 1 << 31  # bytes
_SPLIT_NAMES = {"train": "train", "valid": "valid", "dev": "valid", "test": "test", "context": "context"}


@dataclass(frozen=True)
class InputFile:
    """A file to read into a split; ``format`` is detected if it is not given."""

    path: Path
    split: str = "train"
    format: str | None = None
    first_lines: int | None = None


@dataclass
class ReadReport:
    """The lines of one file: how many were read, kept, blank or skipped for which reason, and the first problems."""

    source: str
    format: str
    lines: int = 0
    kept: int = 0
    blank: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def skip(self, problem: Problem) -> None:
        """Count a skipped line."""
        self.skipped[problem.reason] = self.skipped.get(problem.reason, 0) + 1
        if len(self.problems) < _PROBLEMS_KEPT:
            self.problems.append(problem)

    def __str__(self) -> str:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.skipped.items())
        first = self.problems[0]
        kept, skipped = counted(self.kept, "fact"), counted(sum(self.skipped.values()), "line")
        return (
            f"{self.source}: {kept} kept, {skipped} skipped ({reasons}); "
            f"the first is line {first.line}: {first.message}"
        )


def read(
    path: str | Path, *, format: str | None = None, on_error: str = "stop", progress: Progress = no_progress
) -> Dataset:
    """Read a file of facts, ``-`` for standard input, or a folder with ``train``, ``valid`` and ``test`` files.

    A folder that ``nary convert --to mapped`` wrote is mapped into memory.

    A file is a single split, ``train``, unless its facts name their splits. A line that is not a fact is an error; with
    ``on_error="skip"`` such lines are skipped and counted in the notes of the dataset.
    """
    if format in (None, MAPPED) and is_mapped(Path(path)):
        return open_mapped(Path(path), _name(Path(path)))
    return _read(path, format, on_error, progress, Encoder())[0]


@dataclass(frozen=True)
class Places:
    """Where each fact of a dataset was read: the file, and the line or row in it, counted from 1."""

    files: Sequence[str]
    starts: npt.NDArray[np.int64]
    """How many lines the files before each have."""
    rows: Mapping[str, npt.NDArray[np.int64]]

    def of(self, split: str) -> list[tuple[str, int]]:
        """File and line of each fact of a split, in the order of its table."""
        rows = self.rows[split]
        files = np.searchsorted(self.starts, rows, side="right") - 1
        lines = rows - self.starts[files] + 1
        return [(self.files[file], line) for file, line in zip(files.tolist(), lines.tolist(), strict=True)]


def read_with_places(
    path: str | Path, *, format: str | None = None, on_error: str = "stop", progress: Progress = no_progress
) -> tuple[Dataset, Places]:
    """Like :func:`read`, and where each fact stands."""
    if format in (None, MAPPED) and is_mapped(Path(path)):
        dataset = open_mapped(Path(path), _name(Path(path)))
        starts = np.cumsum([0, *map(len, dataset.splits.values())])
        rows = {split: starts[i] + np.arange(len(table)) for i, (split, table) in enumerate(dataset.splits.items())}
        return dataset, Places([str(Path(path) / split) for split in dataset.splits], starts[:-1], rows)
    encoder = Encoder(keep_rows=True)
    dataset, reports = _read(path, format, on_error, progress, encoder)
    starts = np.cumsum([0, *(report.lines for report in reports)])[:-1]
    return dataset, Places([report.source for report in reports], starts, encoder.rows)


def _read(
    path: str | Path, format: str | None, on_error: str, progress: Progress, encoder: Encoder
) -> tuple[Dataset, list[ReadReport]]:
    path = Path(path)
    folder = is_folder(path)
    inputs = _folder_inputs(path, format) if folder else [InputFile(path, format=format)]
    name = "standard input" if str(path) == "-" else _name(path)
    dataset, reports = read_files(name, inputs, on_error=on_error, progress=progress, encoder=encoder)
    if folder:
        labels = read_labels(path / "labels.tsv") if (path / "labels.tsv").is_file() else {}
        types = read_types(path / "types.tsv") if (path / "types.tsv").is_file() else {}
        prefixes = read_labels(path / "prefixes.tsv") if (path / "prefixes.tsv").is_file() else {}
        vocabulary = replace(dataset.vocabulary, labels=labels, types=types)
        dataset = replace(dataset, vocabulary=vocabulary, prefixes=prefixes)
    if format is None and reports[0].format == "hyper-relational":
        check_relations(dataset, reports[0].source)
    return replace(dataset, notes=tuple(str(report) for report in reports if report.skipped)), reports


def _name(path: Path) -> str:
    """Name a dataset after its path, also if that is ``.`` or ``..``."""
    name = path.name if path.name.strip(".") else path.resolve().name
    return name.partition(".")[0] or name


def read_files(
    name: str,
    inputs: Sequence[InputFile],
    *,
    on_error: str = "stop",
    progress: Progress = no_progress,
    encoder: Encoder | None = None,
) -> tuple[Dataset, list[ReadReport]]:
    """Read several files into one dataset, and return a report for each."""
    if on_error not in ("stop", "skip"):
        raise SettingError(f"on_error is {on_error!r}", "Expected stop or skip.")
    encoder = encoder or Encoder()
    reports: list[ReadReport] = []
    for file in inputs:
        offset = sum(report.lines for report in reports)
        reports.append(_read_file(file, encoder, offset, on_error == "stop", progress))
    vocabulary, tables = encoder.finish()
    if not tables:
        raise DataError(
            "contains no facts", "Expected at least one fact.", ", ".join(display_name(file.path) for file in inputs)
        )
    return Dataset(name, vocabulary, {split: tables[split] for split in SPLITS if split in tables}), reports


def read_labels(path: Path) -> dict[str, str]:
    """Read labels by name from lines ``name<tab>label``; further fields are ignored."""
    return {name: texts[0] for name, texts in _texts(path, "label").items()}


def read_types(path: Path) -> dict[str, tuple[str, ...]]:
    """Read the types of entities from lines ``name<tab>type<tab>type...``."""
    return _texts(path, "type")


def _texts(path: Path, what: str) -> dict[str, tuple[str, ...]]:
    """Read the texts of each name from lines of tab-separated fields."""
    texts = {}
    try:
        for number, line in enumerate(read_bytes(path, _MAX_LABELS).decode("utf-8-sig").split("\n"), 1):
            if line.strip():
                name, *rest = line.rstrip("\r").split("\t")
                if not rest:
                    raise DataError(f"no {what} after the name", f"Write name, tab, {what}.", str(path), number)
                texts[name] = tuple(rest)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", file=str(path)) from None
    return texts


def _folder_inputs(folder: Path, format: str | None) -> list[InputFile]:
    files: dict[str, Path] = {}
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise DataError(f"cannot be opened: {error.strerror}", "Check its permissions.", str(folder)) from None
    for path in paths:
        split = _SPLIT_NAMES.get(path.name.partition(".")[0])
        if split is None or path.is_dir():
            continue
        if split in files:
            raise DataError(f"two {split} files: {files[split].name} and {path.name}", "Keep one.", str(folder))
        files[split] = path
    if "train" not in files:
        raise DataError(
            "no train file in this folder",
            "Expected train.jsonl (or .tsv, .parquet, ...), and valid and test likewise.",
            str(folder),
        )
    return [InputFile(files[split], split, format) for split in SPLITS if split in files]


def _read_file(file: InputFile, encoder: Encoder, offset: int, stop: bool, progress: Progress) -> ReadReport:
    with Source(file.path, progress) as source:
        name = file.format or detect_format(file.path, source.head)
        if file.format is None and name == "hyper-relational":
            check_lines(file.path, source.head)
        report = ReadReport(source.name, name)
        # Closed here, because the garbage collector might wait for the parser's threads at a bad moment.
        with closing(FORMATS.get(name)().read(source, file.first_lines)) as chunks:
            for chunk in chunks:
                report.lines += chunk.lines
                report.blank += chunk.blank
                for problem in chunk.problems:
                    if stop:
                        raise DataError(problem.message, problem.hint, report.source, problem.line)
                    report.skip(problem)
                for columns in chunk.columns:
                    encoder.add(columns, file.split, offset)
                    report.kept += columns.rows.size
    if not report.kept and not report.skipped:
        raise DataError("is empty", "Expected at least one fact.", report.source)
    return report
