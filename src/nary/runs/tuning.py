"""Hyperparameter tuning on the valid split: one run per trial, compared by entity MRR. Test facts are never used."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from re import sub
from typing import Any

from nary.config import with_overrides
from nary.data.dataset import Dataset
from nary.data.transforms.splits import hold_out_valid, split_dataset
from nary.errors import OutputError, SettingError
from nary.evaluation.report import Report
from nary.inference.folder import load_reports
from nary.recipe import Recipe, override_tables
from nary.runs.halving import HalvingTrial, SuccessiveHalving
from nary.runs.preparation import check_ranks_entities
from nary.runs.run_folder import RunFolder, is_run_folder
from nary.runs.search import Search
from nary.runs.space import Range, Space, Values, combinations
from nary.runs.training import TrainingResult, effective_settings, train_or_resume
from nary.training.callbacks import Callback
from nary.training.trainer import TrainingError

Train = Callable[[Recipe, Path, Callable[[], Dataset], Sequence[Callback]], TrainingResult]
"""Trains a recipe in a folder, or resumes it; see :func:`nary.runs.training.train_or_resume`."""
VALID_SHARE = 0.2
"""The share of train to hold out for datasets without a valid split, as usual for JF17K."""
_TUNABLE = ("model", "loss", "training")
_RUNGS = 9  # the first rung of successive halving is at this part of the epochs


@dataclass(frozen=True)
class Trial:
    """The settings of one run and the score they reached."""

    values: Values
    folder: Path
    mrr: float | None
    """The entity MRR on valid; None if training diverged."""
    epochs: int
    """The number of epochs after which the score was reached."""
    stopped: bool = False
    """Whether successive halving stopped the training early."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "values": self.values,
            "run": str(self.folder),
            "mrr": self.mrr,
            "epochs": self.epochs,
            "stopped": self.stopped,
        }


class Tuning:
    """Trials of ``recipe`` on ``dataset``, each in a run folder of its own below ``folder``.

    With ``halving``, trials that are behind on valid are stopped early. A recipe that never validates then does so nine
    times.
    """

    def __init__(self, dataset: Dataset, recipe: Recipe, space: Space, folder: Path, *, halving: bool = False) -> None:
        self.folder = folder
        self._dataset, self._held_out = _without_test(dataset, recipe.data.valid_fraction)
        self.notes = self._dataset.notes[len(dataset.notes) :]
        """How the facts were split."""
        self._tables = with_overrides(recipe.as_tables(), {"data.train_on": ["train"]})
        self._tables["data"].pop("valid_fraction", None)  # the facts are split already
        check_ranks_entities(recipe)
        _check(space)
        self._halving: SuccessiveHalving | None = None
        if halving:
            first_rung = max(1, recipe.training.epochs // _RUNGS)
            self._tables["training"]["eval_every"] = recipe.training.eval_every or first_rung
            self._halving = SuccessiveHalving(max(first_rung, recipe.training.eval_every))
        for values in combinations(space):
            self.recipe(values)  # refuses invalid values before the first training

    def recipe(self, values: Values) -> Recipe:
        """The recipe of a trial."""
        return Recipe.from_tables(override_tables(self._tables, values))

    def trials(self, search: Search, train: Train = train_or_resume) -> Iterator[Trial]:
        """Run the trials that ``search`` proposes with ``train``. Finished trials are only read."""
        values = next(search, None)
        while values is not None:
            trial = self._try(values, train)
            yield trial
            try:
                values = search.send(trial.mrr or 0.0)
            except StopIteration:
                return

    def best(self, trials: Sequence[Trial]) -> tuple[Trial, Recipe]:
        """The best trial, and its recipe for training on train+valid for the best number of epochs."""
        converged = [trial for trial in trials if trial.mrr is not None and not trial.stopped]
        if not converged:
            raise SettingError("every training diverged", "Try smaller values of training.learning_rate.")
        best = max(converged, key=lambda trial: trial.mrr or 0.0)
        changes: Values = {"data.train_on": ["train", "valid"], "training.epochs": best.epochs}
        changes |= {"training.eval_every": 0, "training.patience": 0}
        if self._held_out is not None:
            changes["data.valid_fraction"] = self._held_out
        return best, Recipe.from_tables(override_tables(self._tables, {**best.values, **changes}))

    def _try(self, values: Values, train: Train) -> Trial:
        recipe, folder = self.recipe(values), self.folder / "trials" / folder_name(values)
        halving = self._halving.trial() if self._halving else None
        if halving and is_run_folder(folder):
            halving.replay(_validations(folder))
        report = self._report(recipe, folder, train, halving)
        mrr = None if report is None else float(report.metrics["entity"]["mrr"])
        if halving:
            halving.end(mrr)
        if mrr is None:
            return Trial(values, folder, None, 0)
        return Trial(values, folder, mrr, _best_epochs(folder, recipe), halving is not None and halving.behind)

    def _report(self, recipe: Recipe, folder: Path, train: Train, halving: HalvingTrial | None) -> Report | None:
        """The valid report of the trial, which is trained if it was not; None if training diverged."""
        report = trial_report(folder)
        if report is not None:
            if effective_settings(RunFolder(folder).recipe) != effective_settings(recipe):
                raise OutputError(
                    f"{folder} holds a run with other settings", "Choose another --out, or remove that folder."
                )
            return report
        try:
            result = train(recipe, folder, lambda: self._dataset, [halving] if halving else [])
        except TrainingError:
            return None
        if not result.model.reports:  # it was not evaluated during training
            result.model.add_report(result.model.evaluate("valid"), result.run_folder.model_path)
        return trial_report(folder)


def folder_name(values: Values) -> str:
    """The folder name of a trial: its values, without characters that file systems refuse."""
    if not values:
        return "recipe"
    return ",".join(f"{key}={sub(r'[^A-Za-z0-9.+-]', '_', str(value))}" for key, value in sorted(values.items()))


def trial_report(folder: Path) -> Report | None:
    """The valid report of a finished trial by the protocol of its recipe; it may have been evaluated otherwise too."""
    if not is_run_folder(folder):
        return None
    run = RunFolder(folder)
    protocol = run.recipe.evaluation.as_dict()
    reports = load_reports(run.model_path)
    return next((one for one in reports if one.split == "valid" and one.protocol.as_dict() == protocol), None)


def _check(space: Space) -> None:
    if not space:
        raise SettingError("the search space is empty", "Give --grid KEY=VALUE,VALUE: --grid model.dropout=0.1,0.2")
    for key, values in space.items():
        if key.partition(".")[0] not in _TUNABLE:
            raise SettingError(f"{key} cannot be tuned", "Tune keys of model, loss or training.")
        if not isinstance(values, Range) and len(set(map(str, values))) < len(values):
            raise SettingError(f"a value of {key} is given twice", "Give each value once.")


def _without_test(dataset: Dataset, valid_fraction: float | None) -> tuple[Dataset, float | None]:
    """``dataset`` with train and valid only, and the fraction of train that had to be held out as valid."""
    if set(dataset.splits) == {"train"}:
        dataset = split_dataset(dataset)  # as every training on such data does
    held_out = None
    if "valid" not in dataset.splits:
        held_out = VALID_SHARE if valid_fraction is None else valid_fraction
        dataset = hold_out_valid(dataset, held_out)
    splits = {split: dataset[split] for split in ("train", "valid")}
    return dataset.with_splits(splits, "The test split is left out."), held_out


def _best_epochs(folder: Path, recipe: Recipe) -> int:
    """The number of epochs after which a finished trial had its best weights."""
    epochs = recipe.training.epochs
    if not recipe.training.eval_every:
        return epochs
    best = max(_validations(folder), key=lambda validation: validation[1])  # the first of equal ones
    return min(ceil(round(best[0], 3)), epochs)


def _validations(folder: Path) -> list[tuple[float, float]]:
    """Epoch and entity MRR of the validations of a run so far."""
    records = RunFolder(folder).records()
    return [(record["epoch"], record["valid_mrr"]) for record in records if "valid_mrr" in record]
