"""The runs of a comparison, read from run folders, model folders and result records."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from re import fullmatch
from typing import Any

import orjson

from nary.config import validate_settings, with_overrides
from nary.errors import DataError, SettingError
from nary.evaluation.metrics import Metrics
from nary.evaluation.protocol import Protocol
from nary.evaluation.ranks import Ranks
from nary.files.reading import read_bytes
from nary.inference.folder import METRICS_FILE
from nary.recipe import Recipe, choose_recipe, shipped_recipes
from nary.reproduction.experiments import variant_of
from nary.runs import RunFolder, load_model
from nary.runs.run_folder import is_run_folder

_CHANGES_SHOWN = 3
_IGNORED = {"data.name", "training.seed", "training.device", "training.precision", "training.checkpoint_minutes"}
"""Settings that do not make another recipe."""


@dataclass(frozen=True, eq=False)
class ComparedRun:
    """What is known of one run; None for what is not."""

    run: str
    """The name of the run in the comparison."""
    path: str
    model: str
    recipe: str | None
    dataset: str
    triples_only: bool
    fingerprint: str | None
    train_on: Sequence[str] | None
    seed: int | None
    parameters: int | None
    epochs: float | None
    seconds: float | None
    validations: Sequence[tuple[float, float]]
    """Seconds of training, and the MRR on valid at that time."""
    protocol: Protocol
    metrics: Metrics
    settings: str | None = None
    """All settings of the recipe but the seed: equal for runs of one recipe."""
    ranks: Ranks | None = None
    """The rank of every query, if it was asked for."""

    @property
    def data(self) -> str:
        """The dataset, with a word if qualifiers are left out."""
        return f"{self.dataset}, triples only" if self.triples_only else self.dataset

    @property
    def label(self) -> str:
        """The same for runs that differ in the seed: the name of a result record up to it, or the recipe."""
        matched = fullmatch(r"(.+)-seed\d+\.json", Path(self.path).name)
        return matched[1] if matched else self.recipe or self.model

    def metric(self, group: str, name: str) -> float | None:
        """One metric of a query group."""
        return self.metrics.get(group, {}).get(name)

    def seconds_to(self, mrr: float) -> float | None:
        """The training time until a validation reached this MRR."""
        return next((seconds for seconds, reached in self.validations if reached >= mrr), None)


def read_runs(
    paths: Sequence[Path], split: str, overrides: Mapping[str, Any], *, rank: bool = False
) -> list[ComparedRun]:
    """The runs at ``paths`` with their reports on ``split``; ``overrides`` change keys of their protocols.

    Runs are named after their paths, without the folders that all paths have in common. ``rank`` ranks every query
    again, for a test of significance.
    """
    paths = [path.parent if path.name == METRICS_FILE else path for path in paths]
    if rank and (records := [path for path in paths if path.is_file()]):
        raise SettingError(
            f"{records[0]} is a record without a model to rank with", "Give run folders or model folders."
        )
    runs = [
        _read_record(path, split, overrides) if path.is_file() else _read_folder(path, split, overrides, rank)
        for path in paths
    ]
    common = os.path.commonpath([path.absolute().parent for path in paths])
    names = [path.absolute().relative_to(common).as_posix() for path in paths]
    return [replace(run, run=name) for run, name in zip(runs, names, strict=True)]


def recipe_label(recipe: Recipe) -> str:
    """The closest shipped recipe and the changes to it: ``gran/nobel, epochs=20``. The protocol does not count."""
    settings, changes = _settings(recipe), {}
    for name in [name for name in shipped_recipes() if name.startswith(f"{recipe.model_name}/")] or ["defaults"]:
        other = _settings(choose_recipe(recipe.data.name, recipe.model_name, None if name == "defaults" else name))
        changed = [key for key in settings if settings[key] != other.get(key)]
        changes[name] = [f"{key.partition('.')[2]}={_text(settings[key])}" for key in changed]
    usual = f"{recipe.model_name}/{recipe.data.name}"
    closest = min(changes, key=lambda name: (len(changes[name]), name != usual, name))
    shown = changes[closest][:_CHANGES_SHOWN]
    hidden = len(changes[closest]) - len(shown)
    return ", ".join([closest, *shown, *([f"{hidden} more changes"] if hidden else [])])


def _read_folder(path: Path, split: str, overrides: Mapping[str, Any], rank: bool) -> ComparedRun:
    """A run folder or a model folder."""
    model = load_model(path, "cpu")
    protocol = model.protocol(overrides)
    on_split = [report for report in model.reports if report.split == split]
    report = next((one for one in on_split if one.protocol.as_dict() == protocol.as_dict()), None)
    if report is None and split in model.dataset.splits:
        options = "".join(f" --set {key}={value}" for key, value in overrides.items())
        how = " with this protocol" if on_split else ""
        raise SettingError(
            f"{path} has not been evaluated on {split}{how}", f"Run: nary evaluate {path} --split {split}{options}"
        )
    if report is None:
        raise SettingError(f"{model.dataset.name} has no {split} split", f"It has: {', '.join(model.dataset.splits)}")
    log = RunFolder(path).records() if is_run_folder(path) else []
    records = [record for record in log if "seconds" in record]
    epochs, seconds = (round(records[-1][key], 1) for key in ("epoch", "seconds")) if records else (None, None)
    return ComparedRun(
        run=path.name,
        path=str(path),
        fingerprint=model.dataset.fingerprint,
        parameters=model.num_parameters,
        epochs=epochs,
        seconds=seconds,
        validations=[(one["seconds"], one["valid_mrr"]) for one in records if "valid_mrr" in one],
        protocol=report.protocol,
        metrics=report.metrics,
        ranks=model.rank(split, protocol=report.protocol)[1] if rank else None,
        **_from_recipe(model.recipe, model.dataset.name, model.name),
    )


def _read_record(path: Path, split: str, overrides: Mapping[str, Any]) -> ComparedRun:
    """A result record, written by ``nary evaluate --record``."""
    try:
        record = orjson.loads(read_bytes(path))
        recipe = Recipe.from_tables(record["recipe"], str(path))
        protocol = validate_settings(Protocol, record["protocol"], "protocol", str(path))
        run = ComparedRun(
            run=path.name,
            path=str(path),
            fingerprint=record.get("fingerprint"),
            parameters=record.get("parameters"),
            epochs=recipe.training.epochs if record["seconds"] else None,
            seconds=record["seconds"],
            validations=[],
            protocol=protocol,
            metrics=record["metrics"],
            **_from_recipe(recipe, record["dataset"], record["model"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        hint = "Write one: nary evaluate RUN --record FOLDER"
        raise DataError(f"not a result record: {error}", hint, str(path)) from None
    if record.get("split") != split:
        raise SettingError(f"{path} is a result on {record.get('split')}, not {split}", "Change --split.")
    wanted = with_overrides({"evaluation": protocol.model_dump()}, overrides)
    if set(wanted) != {"evaluation"} or validate_settings(Protocol, wanted["evaluation"], "evaluation") != protocol:
        raise SettingError(f"{path} was evaluated with another protocol", protocol.describe())
    return run


def _from_recipe(recipe: Recipe | None, dataset: str, model: str) -> dict[str, Any]:
    """The fields of :class:`ComparedRun` that follow from the recipe."""
    variant = variant_of(recipe) if recipe else None
    return {
        "model": f"{model}-{variant}" if variant else model,
        "recipe": recipe_label(recipe) if recipe else None,
        "dataset": dataset,
        "triples_only": recipe is not None and not recipe.data.qualifiers,
        "train_on": recipe.data.train_on if recipe else None,
        "seed": recipe.training.seed if recipe else None,
        "settings": str(_settings(recipe)) if recipe else None,
    }


def _settings(recipe: Recipe) -> Mapping[str, Any]:
    tables = recipe.model_dump(exclude={"evaluation"})
    flat = {f"{table}.{key}": value for table, content in tables.items() for key, value in content.items()}
    return {key: value for key, value in flat.items() if key not in _IGNORED}


def _text(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)
