"""Reading facts: from files to a dataset, with a report of what was read and what was not."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from nary.data.dataset import SPLITS, Dataset
from nary.data.encoding import Encoder
from nary.data.files import Source, is_folder, shown
from nary.data.formats import LINE_FORMATS, detect, known
from nary.data.parsing import line_parts, parquet_parts
from nary.data.report import ReadReport
from nary.errors import DataError, SettingError
from nary.progress import Progress, no_progress


@dataclass(frozen=True)
class Input:
    """A file to read into a split; ``format`` is told from the file if it is not given."""

    path: Path
    split: str = "train"
    format: str | None = None
    first_lines: int | None = None


def read(
    path: str | Path, *, format: str | None = None, on_error: str = "stop", progress: Progress = no_progress
) -> Dataset:
    """Read a file of facts, ``-`` for standard input, or a folder with ``train``, ``valid`` and ``test`` files.

    A file is one split, ``train``, unless its lines name their splits. Lines that are not facts stop the reading with
    an error, or are skipped and counted in the dataset's notes with ``on_error="skip"``.
    """
    path = Path(path)
    folder = is_folder(path)
    inputs = _folder_inputs(path, format) if folder else [Input(path, format=format)]
    labels = path / "labels.tsv"
    name = "standard input" if str(path) == "-" else _name(path)
    dataset, reports = read_files(
        name,
        inputs,
        on_error=on_error,
        labels=read_labels(labels) if folder and labels.is_file() else None,
        progress=progress,
    )
    return replace(dataset, notes=tuple(str(report) for report in reports if report.skipped))


def _name(path: Path) -> str:
    """What facts read from ``path`` are called: its name, also where ``path`` is ``.`` or ``..``."""
    name = path.name if path.name.strip(".") else path.resolve().name
    return name.partition(".")[0] or name


def read_files(
    name: str,
    inputs: Sequence[Input],
    *,
    on_error: str = "stop",
    labels: Mapping[str, str] | None = None,
    progress: Progress = no_progress,
) -> tuple[Dataset, list[ReadReport]]:
    """Read several files into one dataset, and report on each."""
    if on_error not in ("stop", "skip"):
        raise SettingError(f"on_error is {on_error!r}", "Expected stop or skip.")
    encoder = Encoder()
    reports: list[ReadReport] = []
    for given in inputs:
        before = sum(report.lines for report in reports)
        reports.append(_read_one(given, encoder, before, on_error == "stop", progress))
    vocabulary, tables = encoder.finish()
    if not tables:
        raise DataError(
            "no facts in it", "Expected at least one fact.", ", ".join(shown(given.path) for given in inputs)
        )
    vocabulary = replace(vocabulary, labels=dict(labels or {}))
    return Dataset(name, vocabulary, {split: tables[split] for split in SPLITS if split in tables}), reports


def read_labels(path: Path) -> dict[str, str]:
    """Labels by name, from lines ``name<tab>label`` (further fields are left alone)."""
    labels = {}
    try:
        for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), 1):
            if line.strip():
                name, tab, rest = line.partition("\t")
                if not tab:
                    raise DataError("no label after the name", "Write name, tab, label.", str(path), number)
                labels[name] = rest.split("\t")[0].rstrip("\r")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", file=str(path)) from None
    return labels


def _folder_inputs(folder: Path, format: str | None) -> list[Input]:
    names = {"train": "train", "valid": "valid", "dev": "valid", "test": "test", "context": "context"}
    found: dict[str, Path] = {}
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise DataError(f"cannot be opened: {error.strerror}", "Check its permissions.", str(folder)) from None
    for path in paths:
        split = names.get(path.name.partition(".")[0])
        if split is None or path.is_dir():
            continue
        if split in found:
            raise DataError(f"two {split} files: {found[split].name} and {path.name}", "Keep one.", str(folder))
        found[split] = path
    if "train" not in found:
        raise DataError(
            "no train file in this folder",
            "Expected train.jsonl (or .tsv, .parquet, ...), and valid and test likewise.",
            str(folder),
        )
    return [Input(found[split], split, format) for split in SPLITS if split in found]


def _read_one(given: Input, encoder: Encoder, offset: int, stop: bool, progress: Progress) -> ReadReport:
    with Source(given.path, progress) as source:
        name = known(given.format) if given.format else detect(given.path, source.head)
        report = ReadReport(source.name, name)
        if name == "parquet":
            if source.head and (source.packing or str(given.path) == "-"):
                raise DataError(
                    "holds Parquet, which is only read from a plain file", "Unpack it to a file.", source.name
                )
            parts = parquet_parts(given.path)
        else:
            parts = line_parts(source, LINE_FORMATS[name](), given.first_lines)
        with closing(parts):  # left to the garbage collector, its threads could be waited for at any, bad, moment
            for part in parts:
                report.lines += part.lines
                report.blank += part.blank
                for problem in part.problems:
                    if stop:
                        raise DataError(problem.message, problem.hint, report.source, problem.line)
                    report.skip(problem)
                for columns in part.columns:
                    encoder.add(columns, given.split, offset)
                    report.kept += columns.rows.size
    if not report.kept and not report.skipped:
        raise DataError("is empty", "Expected at least one fact.", report.source)
    return report
