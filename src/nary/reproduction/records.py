"""Result records: JSON files with the metrics of a run and everything needed to repeat it, but none of its facts."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from re import fullmatch
from statistics import mean, stdev
from typing import Any

import numpy
import orjson
import torch

from nary.errors import DataError, SettingError
from nary.evaluation.metrics import GROUPS
from nary.evaluation.protocol import Protocol
from nary.evaluation.report import Report
from nary.files.reading import read_bytes
from nary.files.writing import atomic_path
from nary.models.blend.model import Blend
from nary.recipe import Recipe
from nary.reproduction.experiments import all_experiments, record_stem, variant_of
from nary.runs import RunFolder, TrainedModel, load_model
from nary.runs.blend_training import part_records
from nary.runs.blending import part_names
from nary.runs.run_folder import is_run_folder
from nary.runs.training import effective_settings, seedless_settings
from nary.runs.tuning import Trial, folder_name, trial_report
from nary.version import __version__

FORMAT = 1
"""The version of result records; a new one means that older metrics can no longer be compared."""
TRIAL_LABEL = "tried"
"""The label of recorded trials; the changed settings follow it."""
_KEYS = ("model", "variant", "dataset", "split", "trained_on", "seed", "recipe", "protocol", "metrics", "seconds")


def record_result(run: RunFolder, model: TrainedModel, report: Report, folder: Path, label: str = "") -> Path:
    """Write the result record of a run under ``folder``, replacing one of the same name, and return its path.

    The file is named after model, variant and seed, and after ``label``, which tells the recipe from the shipped one.
    """
    recipe = model.recipe
    record = {
        "format": FORMAT,
        "model": recipe.model_name,
        "variant": variant_of(recipe),
        "trained_on": recipe.data.train_on,
        "seed": recipe.training.seed,
        "recipe": recipe.as_tables(),
        **report.as_dict(),  # dataset, split, protocol, metrics
        "fingerprint": model.dataset.fingerprint,
        "parameters": model.num_parameters,
        "seconds": run.seconds,
        **({"parts": _parts(run, model, report)} if isinstance(model.module, Blend) else {}),
        "hardware": hardware(),
        "versions": _versions(),
    }
    path = _record_path(recipe, folder, label)
    with atomic_path(path) as temporary:
        temporary.write_bytes(orjson.dumps(record, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return path


def record_trial(trial: Trial, folder: Path) -> Path | None:
    """Write the result record of a tuning trial and return its path; None if its training diverged."""
    report = trial_report(trial.folder)
    if report is None:
        return None
    label = TRIAL_LABEL + (f",{folder_name(trial.values)}" if trial.values else "")
    return record_result(RunFolder(trial.folder), load_model(trial.folder), report, folder, label)


def check_recordable(recipe: Recipe, split: str, protocol: Protocol, folder: Path, label: str = "") -> None:
    """Refuse, before ranking, to replace a record made with another split, protocol or settings."""
    path = _record_path(recipe, folder, label)
    if not path.is_file():
        return
    remedy = "Choose another --label, or remove that file."
    try:
        old = orjson.loads(read_bytes(path))
        settings = effective_settings(Recipe.from_tables(old["recipe"]))
    except (ValueError, KeyError, TypeError):
        raise SettingError(f"{path} exists and is not a result record", remedy) from None
    except SettingError:  # it has a setting that no longer exists
        settings = {}
    for key, new in (("split", split), ("protocol", protocol.as_dict())):
        if old.get(key) != new:
            raise SettingError(f"{path} holds a result with another {key}: {old.get(key)}, not {new}", remedy)
    if settings != effective_settings(recipe):
        raise SettingError(f"{path} holds a result with other settings", remedy)


def read_results(folder: Path) -> list[dict[str, Any]]:
    """All result records under ``folder``, each with its relative ``path``."""
    records = []
    for path in sorted(folder.glob("*/*.json")):
        try:
            record = orjson.loads(read_bytes(path))
        except (OSError, ValueError) as error:
            raise DataError(f"not a result record: {error}", file=str(path)) from None
        if missing := [key for key in _KEYS if key not in record]:
            raise DataError(f"not a result record: {missing[0]!r} is missing", file=str(path))
        if record.setdefault("format", 1) > FORMAT:
            raise DataError("written by a newer Nary", "Update Nary.", str(path))
        records.append({**record, "path": path.relative_to(folder).as_posix()})
    return records


def recorded_settings(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """The settings behind a record without the seed; None if they are no longer valid.

    Settings that were added after the record was written have their default values.
    """
    if record["format"] != FORMAT:
        return None
    try:
        return seedless_settings(Recipe.from_tables(record["recipe"]))
    except SettingError:  # it has a setting that no longer exists
        return None


@dataclass(frozen=True)
class ResultRow:
    """Result records that differ only in the seed: one row of a table on the results page."""

    name: str
    """The name to give to ``nary reproduce``."""
    stem: str
    """The file name of the records up to the seed."""
    records: Sequence[Mapping[str, Any]]
    """By seed."""
    outdated: bool = False
    """Whether the recipe of that name has changed since."""

    @property
    def dataset(self) -> str:
        """The name of the dataset."""
        return str(self.records[0]["dataset"])

    @property
    def model(self) -> str:
        """The name of the model."""
        return str(self.records[0]["model"])

    @property
    def system(self) -> str:
        """Model and variant, the key of published results; without qualifiers it is a system of its own."""
        first = self.records[0]
        triples_only = not first["recipe"]["data"].get("qualifiers", True)
        return "-".join(part for part in (first["model"], first["variant"], "triples" if triples_only else "") if part)

    @property
    def protocol(self) -> str:
        """The evaluation protocol and the splits trained on, in words."""
        first = self.records[0]
        stated = first["protocol"].items()
        rules = (f"{key} {' '.join(value) if isinstance(value, list) else value}" for key, value in stated if value)
        kept = first["recipe"]["data"].get("valid_fraction")
        held_out = f" with a fraction of {kept} held out as valid" if kept else ""
        return f"{', '.join(rules)}. Trained on {'+'.join(first['trained_on'])}{held_out}"

    @property
    def seconds(self) -> float | None:
        """The mean training time; None if nothing was trained."""
        times = [record["seconds"] for record in self.records if record["seconds"]]
        return mean(times) if times else None

    def values(self, group: str, metric: str) -> list[float]:
        """The metric for each seed; empty if the model does not predict the group."""
        return [record["metrics"][group][metric] for record in self.records if group in record["metrics"]]

    def mean(self, group: str, metric: str) -> float:
        """The mean over seeds."""
        return mean(self.values(group, metric))

    def query_count(self, group: str) -> int:
        """The number of queries in a group."""
        return max((int(record["metrics"].get(group, {}).get("count", 0)) for record in self.records), default=0)

    def formatted(self, group: str, metric: str) -> str:
        """Mean and standard deviation over seeds, as text."""
        values = self.values(group, metric)
        if not values:
            return ""
        return f"{mean(values):.3f}" + (f" ± {stdev(values):.3f}" if len(values) > 1 else "")

    def links(self) -> str:
        """Markdown links to the records, by seed."""
        return " ".join(f"[{record['seed']}]({record['link']})" for record in self.records)


def read_result_rows(folder: Path, split: str = "test", page: Path | None = None) -> list[ResultRow]:
    """All rows of results on ``split``; links are relative to ``page``, or to a file beside the folder."""
    base = Path(os.path.relpath(folder, page.parent if page else folder.parent)).as_posix()
    experiments = {(one.dataset, one.stem): one for one in all_experiments().values()}
    grouped: dict[tuple[str, str, bytes], list[dict[str, Any]]] = {}
    for record in read_results(folder):
        if record["split"] == split:
            record["link"] = f"{base}/{record['path']}"
            stem = record["path"].rpartition("/")[2].rpartition("-seed")[0]
            key = (record["dataset"], stem, _settings_key(recorded_settings(record)))
            grouped.setdefault(key, []).append(record)
    rows = []
    for (dataset, stem, settings), records in grouped.items():
        experiment = experiments.get((dataset, stem))
        outdated = experiment is not None and settings != _settings_key(seedless_settings(experiment.recipe))
        name = f"{stem}/{dataset}" if experiment is None else experiment.name
        rows.append(ResultRow(name, stem, sorted(records, key=lambda record: record["seed"]), outdated))
    return rows


def _parts(run: RunFolder, model: TrainedModel, report: Report) -> list[dict[str, Any]]:
    """The parts of a blend, each ranked like the blend itself: name, seconds, MRR by query group on valid and here."""
    if not isinstance(model.module, Blend):
        return []
    names = part_names([part.model_name for part in model.recipe.parts])  # those logged may be paths
    parts = []
    for name, module, record in zip(names, model.module.models, part_records(run)[:-1], strict=True):
        metrics = replace(model, module=module).evaluate(report.split, protocol=report.protocol).metrics
        mrr = {group: metrics[group]["mrr"] for group in GROUPS if group in metrics}
        parts.append({"name": name, "seconds": record["part_seconds"], "valid_mrr": record["mrr"], "mrr": mrr})
    return parts


def hardware() -> str:
    """The processor, its cores, and the number of compute threads."""
    info = Path("/proc/cpuinfo")
    model = platform.processor() or platform.machine()
    if info.is_file():
        lines = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].partition(":")[2].strip() if lines else model
    return f"{model}, {os.cpu_count()} cores, {torch.get_num_threads()} threads"


def recordable_run(path: Path) -> RunFolder:
    """The run folder at ``path``; a model folder is refused."""
    if not is_run_folder(path):
        raise SettingError("only run folders can be recorded", "A model folder does not hold its training log.")
    return RunFolder(path)


def _record_path(recipe: Recipe, folder: Path, label: str) -> Path:
    if not fullmatch(r"[\w.,=+-]*", label):
        raise SettingError(f"the label {label!r} cannot be part of a file name", "Use letters, digits and dashes.")
    name = recipe.data.name
    if not fullmatch(r"[^/\\\0]+", name) or name in (".", ".."):  # a run of a stranger must not tell where to write
        raise SettingError(f"the dataset name {name!r} cannot be the name of a folder", "Only such runs are recorded.")
    return folder / name / f"{record_stem(recipe, label)}-seed{recipe.training.seed}.json"


def _settings_key(settings: dict[str, Any] | None) -> bytes:
    return orjson.dumps(settings, option=orjson.OPT_SORT_KEYS)


def _versions() -> dict[str, str]:
    return {
        "nary": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
    }
