"""Export a model: vectors as TSV, Parquet or NumPy, or a program that scores, for torch.export or ONNX."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nary.data.dataset import Dataset
from nary.errors import OutputError, SettingError, did_you_mean
from nary.files.writing import atomic_path
from nary.inference.export.program import write_onnx, write_torch
from nary.inference.export.vectors import Source, write_names, write_npy, write_parquet, write_tsv
from nary.models.base import Model

FORMATS: dict[str, tuple[str, Callable[[Source, Path], None]]] = {
    "tsv": (".tsv", write_tsv),
    "parquet": (".parquet", write_parquet),
    "npy": (".npy", write_npy),
    "torch": (".pt2", write_torch),
    "onnx": (".onnx", write_onnx),
}
"""Each format with its file suffix and the function that writes it."""
_PROGRAMS = ("torch", "onnx")


__all__ = ["FORMATS", "Exported", "export"]


@dataclass(frozen=True)
class Exported:
    """The files written: ``out`` and, except for Parquet, ``names`` beside it; a program is for one ``arity``."""

    out: Path
    names: Path | None
    format: str
    arity: int | None
    entities: int
    relations: int

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**vars(self), "out": str(self.out), "names": self.names and str(self.names)}


def export(model: Model, dataset: Dataset, out: Path, format: str | None = None, arity: int | None = None) -> Exported:
    """Write ``out``, which must not exist, in ``format`` or that of its suffix.

    A program takes facts of ``arity``, by default the most frequent one.
    """
    format = _format(out, format)
    names = None if format == "parquet" else out.with_name(f"{out.name}.names.tsv")
    for path in (out, names):
        _check_free(path)
    if arity is not None and format not in _PROGRAMS:
        raise SettingError(f"--arity does not apply to {format}", f"It is for {' and '.join(_PROGRAMS)}.")
    source = Source(model, dataset, _arity(dataset, arity))
    source.check()
    with ExitStack() as files:  # both files are complete before either gets its name
        FORMATS[format][1](source, files.enter_context(atomic_path(out)))
        if names is not None:
            write_names(source, files.enter_context(atomic_path(names)))
    sizes = len(dataset.vocabulary.entities), len(dataset.vocabulary.relations)
    return Exported(out, names, format, source.arity if format in _PROGRAMS else None, *sizes)


def _check_free(path: Path | None) -> None:
    try:
        taken = path is not None and path.exists()
    except OSError as error:  # a name that is too long, for example
        raise OutputError(f"cannot write {path}: {error.strerror}", "Choose another OUT.") from None
    if taken:
        raise OutputError(f"{path} exists already", "Choose another OUT, or remove it.")


def _format(out: Path, given: str | None) -> str:
    if given is not None and given not in FORMATS:
        raise SettingError(f"unknown format {given!r}", did_you_mean(given, FORMATS))
    told = next((name for name, (suffix, _) in FORMATS.items() if out.suffix.lower() == suffix), None)
    if (format := given or told) is None:
        suffixes = ", ".join(suffix for suffix, _ in FORMATS.values())
        raise SettingError(
            f"the extension of {out.name} is not a known format",
            f"Let it end in {suffixes}, or give --format {'|'.join(FORMATS)}.",
        )
    return format


def _arity(dataset: Dataset, given: int | None) -> int:
    arities = dataset.facts.arities
    if given is not None and given not in arities:
        raise SettingError(f"the model has no facts of arity {given}", f"It has: {', '.join(map(str, arities))}")
    return given or max(arities, key=lambda arity: (arities[arity], -arity))
