"""Choosing settings on the valid split: a run for each, the best by the MRR of entities; test facts are never there."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from re import sub
from typing import Any

from nary.config import parse_overrides, read_toml, with_overrides
from nary.data.dataset import Dataset
from nary.data.load import with_valid
from nary.data.splits import split_dataset
from nary.errors import SettingError
from nary.evaluation.report import Report
from nary.inference.folder import load_reports
from nary.recipe import Recipe, recipe_from
from nary.runs.log import training_records
from nary.runs.results import record_result
from nary.runs.resuming import start_or_resume
from nary.runs.run import MODEL, RECIPE, Run, load_run
from nary.runs.searches import Search, Space, Values, combinations
from nary.runs.training import check_entities
from nary.training.loop import TrainingError

VALID_SHARE = 0.2
"""Of train, held out where a dataset has no valid split: what the literature takes for JF17K."""
TRIED = "tried"
"""What the results of trials are labeled with, and then with what was changed."""
_SEARCHED = ("model", "training")


@dataclass(frozen=True)
class Trial:
    """One setting and what came of it."""

    values: Values
    folder: Path
    mrr: float | None
    """Of entities in the valid split; None if the training diverged."""
    epochs: int
    """After which it was best."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"values": self.values, "run": str(self.folder), "mrr": self.mrr, "epochs": self.epochs}


class Tuning:
    """Trials of ``recipe`` on ``dataset``, a run folder each below ``folder``."""

    def __init__(self, dataset: Dataset, recipe: Recipe, space: Space, folder: Path) -> None:
        self.folder = folder
        self._dataset, self._share = _without_test(dataset, recipe.data.valid_fraction)
        self.notes = self._dataset.notes[len(dataset.notes) :]
        """How the facts were divided."""
        self._tables = with_overrides(recipe.as_tables(), {"data.train_on": ["train"]})
        self._tables["data"].pop("valid_fraction", None)  # the facts are divided already
        check_entities(recipe)
        _check(space)
        for values in combinations(space):
            self.recipe(values)  # a value that cannot be is refused before the first training

    def recipe(self, values: Values) -> Recipe:
        """The recipe of a trial."""
        return recipe_from(with_overrides(self._tables, values))

    def trials(self, search: Search, train: Callable[[Run], Run]) -> Iterator[Trial]:
        """Try what ``search`` proposes; ``train`` trains a run, or goes on with it. Finished trials are only read."""
        values = next(search, None)
        while values is not None:
            trial = self._try(values, train)
            yield trial
            try:
                values = search.send(trial.mrr or 0.0)
            except StopIteration:
                return

    def best(self, trials: Sequence[Trial]) -> tuple[Trial, Recipe]:
        """The best trial, and its recipe to learn from train and valid for as many epochs as were best."""
        reached = [trial for trial in trials if trial.mrr is not None]
        if not reached:
            raise SettingError("every training diverged", "Try smaller values of training.learning_rate.")
        best = max(reached, key=lambda trial: trial.mrr or 0.0)
        changed: Values = {"data.train_on": ["train", "valid"], "training.epochs": best.epochs}
        changed |= {"training.eval_every": 0, "training.patience": 0}
        if self._share is not None:
            changed["data.valid_fraction"] = self._share
        return best, recipe_from(with_overrides(self._tables, {**best.values, **changed}))

    def _try(self, values: Values, train: Callable[[Run], Run]) -> Trial:
        recipe, folder = self.recipe(values), self.folder / "trials" / folder_name(values)
        run = start_or_resume(recipe, folder, lambda: self._dataset)
        report = _report(folder)
        if report is None:
            try:
                run = train(run)
            except TrainingError:
                return Trial(values, folder, None, 0)
            if not run.reports:  # it was not ranked while it trained
                run.keep(run.evaluate("valid"))
            report = _report(folder)
        return Trial(values, folder, _mrr(report), _best_epochs(folder, recipe))


def parse_space(texts: Sequence[str]) -> Space:
    """Values to try, written ``training.learning_rate=1e-3,2e-3``: as in TOML, or as plain words."""
    space: dict[str, list[Any]] = {}
    for text in texts:
        key, equals, given = text.partition("=")
        parts = given.split(",")
        if not equals or not all(part.strip() for part in parts):
            raise SettingError(f"cannot read the grid {text!r}", "Write table.key=value,value: model.dropout=0.1,0.2")
        key = key.strip()
        if key in space:
            raise SettingError(f"{key} is given twice", f"Write all values at once: --grid {key}=VALUE,VALUE")
        space[key] = [parse_overrides([f"{key}={part}"])[key] for part in parts]
    return space


def record_trial(trial: Trial, results: Path) -> Path | None:
    """Write what came of a trial under ``results`` and return its path; nothing comes of a training that diverged."""
    report = _report(trial.folder)
    if report is None:
        return None
    label = TRIED + (f",{folder_name(trial.values)}" if trial.values else "")
    return record_result(load_run(trial.folder), report, results, label)


def folder_name(values: Values) -> str:
    """What the run of a trial is called: the values, without characters that folders may not have."""
    if not values:
        return "recipe"
    return ",".join(f"{key}={sub(r'[^A-Za-z0-9.+-]', '_', str(value))}" for key, value in sorted(values.items()))


def _check(space: Mapping[str, Sequence[Any]]) -> None:
    if not space:
        raise SettingError("nothing to choose from", "Give --grid KEY=VALUE,VALUE: --grid model.dropout=0.1,0.2")
    for key, values in space.items():
        if key.partition(".")[0] not in _SEARCHED:
            raise SettingError(f"{key} cannot be tuned", "Keys of model and training can.")
        if len(set(map(str, values))) < len(values):
            raise SettingError(f"a value of {key} is given twice", "Give each once.")


def _without_test(dataset: Dataset, share: float | None) -> tuple[Dataset, float | None]:
    """``dataset`` with train and valid alone, and the share of train that had to be held out for valid."""
    if set(dataset.splits) == {"train"}:
        dataset = split_dataset(dataset)  # as every training of such data does
    held_out = None
    if "valid" not in dataset.splits:
        held_out = VALID_SHARE if share is None else share
        dataset = with_valid(dataset, held_out)
    splits = {split: dataset[split] for split in ("train", "valid")}
    return dataset.with_splits(splits, "The test split is left out."), held_out


def _mrr(report: Report | None) -> float | None:
    return None if report is None else float(report.metrics["entity"]["mrr"])


def _report(folder: Path) -> Report | None:
    """What was kept of a finished trial; others may have ranked it by other protocols since."""
    path = folder / RECIPE
    protocol = recipe_from(read_toml(path), str(path)).evaluation.as_dict()
    reports = load_reports(folder / MODEL)
    return next((one for one in reports if one.split == "valid" and one.protocol.as_dict() == protocol), None)


def _best_epochs(folder: Path, recipe: Recipe) -> int:
    """The number of epochs after which a finished trial had its kept weights."""
    epochs = recipe.training.epochs
    if not recipe.training.eval_every:
        return epochs
    validations = [record for record in training_records(folder) if "valid_mrr" in record]
    best = max(validations, key=lambda record: record["valid_mrr"])  # the first of equal ones
    return min(ceil(round(best["epoch"], 3)), epochs)
