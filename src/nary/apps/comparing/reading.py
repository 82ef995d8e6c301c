"""What there is to compare: run folders and model folders with their reports, and recorded results."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from nary.apps.comparing.recipes import recipe_label
from nary.config import validate_settings, with_overrides
from nary.errors import DataError, SettingError
from nary.evaluation.metrics import Metrics
from nary.evaluation.protocol import Protocol
from nary.inference.reports import METRICS
from nary.recipe import Recipe, recipe_from
from nary.runs import load_run
from nary.runs.log import training_records
from nary.runs.results import variant_of


@dataclass(frozen=True, eq=False)
class Compared:
    """One run of a comparison: ``run`` is what to call it there. What is not known of it is None."""

    run: str
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
    """After how many seconds of training it had which MRR on valid."""
    protocol: Protocol
    metrics: Metrics

    @property
    def data(self) -> str:
        """What it learned from and was asked about."""
        return f"{self.dataset}, triples only" if self.triples_only else self.dataset

    def figure(self, group: str, measure: str) -> float | None:
        """One figure of its metrics."""
        return self.metrics.get(group, {}).get(measure)

    def seconds_to(self, mrr: float) -> float | None:
        """How long it was trained until a validation found this MRR."""
        return next((seconds for seconds, found in self.validations if found >= mrr), None)


def read_runs(paths: Sequence[Path], split: str, overrides: Mapping[str, Any]) -> list[Compared]:
    """The runs at ``paths``, by their reports on ``split``; ``overrides`` are other values for keys of their protocol.

    They are called by their paths, without the folders that all of these begin with.
    """
    paths = [path.parent if path.name == METRICS else path for path in paths]
    found = [(_result if path.is_file() else _run)(path, split, overrides) for path in paths]
    common = os.path.commonpath([path.absolute().parent for path in paths])
    names = [path.absolute().relative_to(common).as_posix() for path in paths]
    return [replace(run, run=name) for run, name in zip(found, names, strict=True)]


def _run(path: Path, split: str, overrides: Mapping[str, Any]) -> Compared:
    run = load_run(path)
    wanted = run.protocol(overrides)
    own = [report for report in run.reports if report.split == split]
    report = next((one for one in own if one.protocol.as_dict() == wanted.as_dict()), None)
    if report is None and split in run.dataset.splits:
        options = "".join(f" --set {key}={value}" for key, value in overrides.items())
        by = " by this protocol" if own else ""
        raise SettingError(
            f"{path} has not been evaluated on {split}{by}", f"Do it: nary evaluate {path} --split {split}{options}"
        )
    if report is None:
        raise SettingError(f"{run.dataset.name} has no {split} split", f"It has: {', '.join(run.dataset.splits)}")
    records = [record for record in training_records(run.folder) if "seconds" in record] if run.folder else []
    epochs, seconds = (round(records[-1][key], 1) for key in ("epoch", "seconds")) if records else (None, None)
    return Compared(
        run=path.name,
        path=str(path),
        fingerprint=run.dataset.fingerprint,
        parameters=sum(parameter.numel() for parameter in run.model.parameters()),
        epochs=epochs,
        seconds=seconds,
        validations=[(one["seconds"], one["valid_mrr"]) for one in records if "valid_mrr" in one],
        protocol=report.protocol,
        metrics=report.metrics,
        **_by_recipe(run.recipe, run.dataset.name, run.model.name),
    )


def _result(path: Path, split: str, overrides: Mapping[str, Any]) -> Compared:
    """A file that ``nary evaluate --record`` has written."""
    try:
        content = orjson.loads(path.read_bytes())
        recipe = recipe_from(content["recipe"], str(path))
        protocol = validate_settings(Protocol, content["protocol"], "protocol", str(path))
        found = Compared(
            run=path.name,
            path=str(path),
            fingerprint=content.get("fingerprint"),
            parameters=content.get("parameters"),
            epochs=recipe.training.epochs if content["seconds"] else None,
            seconds=content["seconds"],
            validations=[],
            protocol=protocol,
            metrics=content["metrics"],
            **_by_recipe(recipe, content["dataset"], content["model"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"not a recorded result: {error}", "nary evaluate RUN --record FOLDER", str(path)) from None
    if content.get("split") != split:
        raise SettingError(
            f"{path} is a result on {content.get('split')}, not {split}", "Give --split, or leave it out."
        )
    wanted = with_overrides({"evaluation": protocol.model_dump()}, overrides)
    if set(wanted) != {"evaluation"} or validate_settings(Protocol, wanted["evaluation"], "evaluation") != protocol:
        raise SettingError(f"{path} was made by another protocol", protocol.describe())
    return found


def _by_recipe(recipe: Recipe | None, dataset: str, model: str) -> dict[str, Any]:
    """What the recipe tells, for the fields of :class:`Compared`."""
    variant = variant_of(recipe) if recipe else None
    return {
        "model": f"{model}-{variant}" if variant else model,
        "recipe": recipe_label(recipe) if recipe else None,
        "dataset": dataset,
        "triples_only": recipe is not None and not recipe.data.qualifiers,
        "train_on": recipe.data.train_on if recipe else None,
        "seed": recipe.training.seed if recipe else None,
    }
