"""Committed results: the metrics of a run with everything needed to repeat it, and none of its facts."""

import os
import platform
from pathlib import Path
from re import fullmatch
from typing import Any

import numpy
import orjson
import torch

from nary.data.files import atomic_path
from nary.errors import DataError, SettingError
from nary.evaluation.protocol import Protocol
from nary.evaluation.report import Report
from nary.recipe import Recipe, recipe_from
from nary.runs.log import training_records
from nary.runs.resuming import content
from nary.runs.run import Run
from nary.version import __version__

FORMAT = 1
"""Of result files. It grows when figures of older files can no longer be compared with new ones."""
_KEYS = ("model", "variant", "dataset", "split", "trained_on", "seed", "recipe", "protocol", "metrics", "seconds")


def record_result(run: Run, report: Report, folder: Path, label: str = "") -> Path:
    """Write the result of ``run`` under ``folder`` and return its path; one of the same name there is replaced.

    It is named after model, variant and seed, and after ``label``, which tells a recipe from the shipped one.
    """
    recipe, own_folder = _recordable(run)
    written = {
        "format": FORMAT,
        "model": recipe.model_name,
        "variant": variant_of(recipe),
        "trained_on": recipe.data.train_on,
        "seed": recipe.training.seed,
        "recipe": recipe.as_tables(),
        **report.as_dict(),  # dataset, split, protocol, metrics
        "fingerprint": run.dataset.fingerprint,
        "parameters": sum(parameter.numel() for parameter in run.model.parameters()),
        "seconds": _seconds(own_folder),
        "hardware": hardware(),
        "versions": _versions(),
    }
    path = _path(run, folder, label)
    with atomic_path(path) as temporary:
        temporary.write_bytes(orjson.dumps(written, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return path


def check_recordable(run: Run, split: str, protocol: Protocol, folder: Path, label: str = "") -> None:
    """Refuse, before the ranking, to replace a result by one that answers another question or has other settings."""
    recipe, _ = _recordable(run)
    path = _path(run, folder, label)
    if not path.is_file():
        return
    remedy = "Give this one a --label, or remove that file."
    try:
        old = orjson.loads(path.read_bytes())
        settings = content(recipe_from(old["recipe"]))
    except (ValueError, KeyError, TypeError):
        raise SettingError(f"{path} is in the way and no result", remedy) from None
    except SettingError:  # it has a setting that no longer exists
        settings = {}
    for key, new in (("split", split), ("protocol", protocol.as_dict())):
        if old.get(key) != new:
            raise SettingError(f"{path} holds a result with another {key}: {old.get(key)}, not {new}", remedy)
    if settings != content(recipe):
        raise SettingError(f"{path} holds a result with other settings", remedy)


def _recordable(run: Run) -> tuple[Recipe, Path]:
    if run.recipe is None or run.folder is None:
        raise SettingError("only a run folder can be recorded", "A model folder does not tell how it was trained.")
    return run.recipe, run.folder


def _path(run: Run, folder: Path, label: str) -> Path:
    recipe, _ = _recordable(run)
    if not fullmatch(r"[\w.,=+-]*", label):
        raise SettingError(f"the label {label!r} cannot be part of a file name", "Use letters, digits and dashes.")
    return folder / run.dataset.name / f"{result_name(recipe, label)}-seed{recipe.training.seed}.json"


def variant_of(recipe: Recipe) -> str | None:
    """The variant of the model, if it has any."""
    return getattr(recipe.model, "variant", None)


def result_name(recipe: Recipe, label: str = "") -> str:
    """What results of ``recipe`` are called, up to the seed."""
    qualifiers = "" if recipe.data.qualifiers else "triples"
    return "-".join(part for part in (recipe.model_name, variant_of(recipe), qualifiers, label) if part)


def read_results(folder: Path) -> list[dict[str, Any]]:
    """All results under ``folder``, each with its ``path`` there."""
    found = []
    for path in sorted(folder.glob("*/*.json")):
        try:
            content = orjson.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise DataError(f"not a result: {error}", file=str(path)) from None
        if missing := [key for key in _KEYS if key not in content]:
            raise DataError(f"not a result: no {missing[0]!r} in it", file=str(path))
        if content.setdefault("format", 1) > FORMAT:
            raise DataError("a newer Nary has made this result", "Update Nary.", str(path))
        found.append({**content, "path": path.relative_to(folder).as_posix()})
    return found


def _seconds(folder: Path) -> float | None:
    """How long the training took, by its last line."""
    times = [record["seconds"] for record in training_records(folder) if "seconds" in record]
    return round(times[-1], 1) if times else None


def hardware() -> str:
    """The processor, its cores, and how many threads compute."""
    info = Path("/proc/cpuinfo")
    model = platform.processor() or platform.machine()
    if info.is_file():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, {torch.get_num_threads()} threads"


def _versions() -> dict[str, str]:
    return {
        "nary": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
    }
