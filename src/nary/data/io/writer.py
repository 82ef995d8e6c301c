"""Writing a dataset: to one file with all its splits, or to a folder with one file per split."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from nary.data.dataset import Dataset
from nary.data.files import COMPRESSED, is_folder
from nary.data.io.base import Format
from nary.data.io.formats import FORMATS, format_from_extension, known_extensions
from nary.data.io.mapped import MAPPED, write_mapped
from nary.data.rdf import EXTENSIONS, is_rdf
from nary.errors import OutputError, SettingError, did_you_mean
from nary.facts import FactTable
from nary.files.writing import atomic_path
from nary.progress import Progress, no_progress


def write(dataset: Dataset, out: str | Path, *, format: str | None = None, progress: Progress = no_progress) -> None:
    """Write ``dataset`` to ``out``, atomically.

    A path with an extension is a file with all facts; each names its split, unless there is only train. Any other path
    is a folder with one file per split, and the labels and types of names. The default format is that of the extension,
    in a folder JSON Lines. Splits without facts are omitted. RDF (.ttl, .nt, ...) has labels and types, but no splits.
    The format ``mapped`` is a folder of its own kind, see ``nary.data.io.mapped``.
    """
    out = Path(out)
    splits = {split: table for split, table in dataset.splits.items() if len(table)}
    if not splits:
        raise OutputError(f"{dataset.name} has no facts to write")
    if format is None and is_rdf(out) and not is_folder(out):
        from nary.data.rdf.writing import write_rdf

        write_rdf(dataset, out, progress)
        return
    if format == MAPPED:
        with _new_folder(out) as empty:
            write_mapped(dataset, empty)
        return
    folder = is_folder(out) or not out.suffix
    name = format or ("jsonl" if folder else format_from_extension(out))
    writer = _writable_format(name, out)
    if folder:
        _write_folder(splits, dataset, out, writer, progress)
        return
    if len(splits) > 1 and not writer.stores_splits:
        raise OutputError(
            f"{name} files cannot name the split of a fact, and {dataset.name} has {len(splits)} splits",
            "Give a folder, which gets one file per split, or write .jsonl or .parquet.",
        )
    with atomic_path(out) as temporary:
        named = {None if set(splits) == {"train"} else split: table for split, table in splits.items()}
        writer().write(temporary, named, dataset.vocabulary, progress)


def check_output(out: Path, format: str | None) -> None:
    """Refuse a folder that has files and a format that cannot be written, before there is anything to write."""
    _check_is_new(out)
    if format not in (None, MAPPED):
        _writable_format(format, out)


def _writable_format(name: str | None, out: Path) -> type[Format]:
    """Return the format called ``name`` if it can be written to ``out``."""
    if name is None:
        hint = f"End it in one of {', '.join([*known_extensions(), *EXTENSIONS])}, or name the format (--to)."
        raise OutputError(f"cannot tell a format from the name {out.name!r}", hint)
    writable = [*(other for other in FORMATS if FORMATS.get(other).output_extension), MAPPED]
    if name not in FORMATS:
        raise SettingError(f"unknown format {name!r}", did_you_mean(name, writable))
    format = FORMATS.get(name)
    if format.output_extension is None:
        raise OutputError(f"facts cannot be written as {name}", f"Formats to write: {', '.join(writable)}.")
    if name == "parquet" and out.suffix in COMPRESSED:
        raise OutputError(f"Parquet has its own compression, which {out.name!r} contradicts", f"Omit {out.suffix}.")
    return format


@contextmanager
def _new_folder(out: Path) -> Iterator[Path]:
    """Yield an empty folder that becomes ``out`` on success."""
    with atomic_path(out) as folder:
        _check_is_new(out)
        folder.mkdir()
        yield folder


def _check_is_new(out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise OutputError(f"{out} exists and is not an empty folder", "Choose another name, or remove it first.")


def _write_folder(
    splits: Mapping[str, FactTable], dataset: Dataset, out: Path, format: type[Format], progress: Progress
) -> None:
    vocabulary = dataset.vocabulary
    with _new_folder(out) as folder:
        for split, table in splits.items():
            path = folder / f"{split}{format.output_extension}"
            format().write(path, {None: table}, vocabulary, progress)
        _write_lines(folder / "labels.tsv", {name: (label,) for name, label in vocabulary.labels.items()})
        _write_lines(folder / "types.tsv", vocabulary.types)
        _write_lines(folder / "prefixes.tsv", {key: (iri,) for key, iri in dataset.prefixes.items()})


def _write_lines(path: Path, texts: Mapping[str, Sequence[str]]) -> None:
    """Write a line for each name with its texts, separated by tabs; nothing if there is none."""
    lines = []
    for name, each in sorted(texts.items()):
        for text in (name, *each):
            if any(character in text for character in "\t\n\r"):
                raise OutputError(
                    f"{path.name} cannot hold {text!r}: it contains a tab or line end", "Give a file, not a folder."
                )
        lines.append("\t".join([name, *each]) + "\n")
    if lines:
        path.write_bytes("".join(lines).encode())
