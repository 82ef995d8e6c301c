"""Choosing settings on the valid split: a run for each, the best by the MRR of entities; test facts are never there."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from re import sub
from typing import Any

import orjson

from nary.config import parse_overrides, with_overrides
from nary.data.dataset import Dataset
from nary.data.load import with_valid
from nary.data.splits import split_dataset
from nary.errors import SettingError
from nary.inference.reports import load_reports
from nary.recipe import Recipe, recipe_from
from nary.runs.results import record_result
from nary.runs.resuming import start_or_resume
from nary.runs.run import MODEL, Run, load_run
from nary.runs.searches import Search, Space, Values, combinations
from nary.training.loop import TrainingError

VALID_SHARE = 0.2
"""Of train, held out where a dataset has no valid split: what the literature takes for JF17K."""
TRIED = "tried"
"""What the results of trials are labelled with, and then with what was changed."""
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
        self._dataset, self._share = _without_test(dataset, recipe.data.valid_share)
        self.notes = self._dataset.notes[len(dataset.notes) :]
        """How the facts were divided."""
        self._tables = with_overrides(recipe.as_tables(), {"data.train_on": ["train"]})
        self._tables["data"].pop("valid_share", None)  # the facts are divided already
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
            raise SettingError("every training diverged", "Try smaller values of training.rate.")
        best = max(reached, key=lambda trial: trial.mrr or 0.0)
        changed: Values = {"data.train_on": ["train", "valid"], "training.epochs": best.epochs}
        changed |= {"training.validate_every": 0, "training.patience": 0}
        if self._share is not None:
            changed["data.valid_share"] = self._share
        return best, recipe_from(with_overrides(self._tables, {**best.values, **changed}))

    def _try(self, values: Values, train: Callable[[Run], Run]) -> Trial:
        recipe, folder = self.recipe(values), self.folder / "trials" / folder_name(values)
        run = start_or_resume(recipe, folder, lambda: self._dataset)
        score = _score(folder)
        if score is None:
            try:
                run = train(run)
            except TrainingError:
                return Trial(values, folder, None, 0)
            if not run.reports:  # it was not ranked while it trained
                run.keep(run.evaluate("valid"))
            score = _score(folder)
        return Trial(values, folder, score, _best_epochs(folder, recipe))


def parse_space(texts: Sequence[str]) -> Space:
    """Values to try, written ``training.rate=1e-3,2e-3``: as in TOML, or as plain words."""
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
    if trial.mrr is None:
        return None
    run = load_run(trial.folder)
    label = TRIED + (f",{folder_name(trial.values)}" if trial.values else "")
    return record_result(run, run.reports[-1], results, label, replace=True)


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


def _score(folder: Path) -> float | None:
    """The MRR that was kept of a finished trial."""
    found = [report for report in load_reports(folder / MODEL) if report.split == "valid"]
    return float(found[-1].metrics["entity"]["mrr"]) if found else None


def _best_epochs(folder: Path, recipe: Recipe) -> int:
    """The number of epochs after which a finished trial had its kept weights."""
    every, epochs = recipe.training.validate_every, recipe.training.epochs
    if not every:
        return epochs
    records = map(orjson.loads, (folder / "metrics.jsonl").read_bytes().splitlines())
    scores = [record["valid_mrr"] for record in records if "valid_mrr" in record]
    return min((scores.index(max(scores)) + 1) * every, epochs)
