"""Hyperparameter tuning on the valid split: one run per trial, compared by entity MRR. Test facts are never used."""

import random
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil
from pathlib import Path
from re import sub
from typing import Any

from nary.config import parse_overrides, with_overrides
from nary.data.dataset import Dataset
from nary.data.transforms.splits import hold_out_valid, split_dataset
from nary.errors import MissingExtraError, OutputError, SettingError
from nary.evaluation.report import Report
from nary.inference.folder import load_reports
from nary.recipe import Recipe, override_tables
from nary.runs.run_folder import RunFolder, is_run_folder
from nary.runs.training import TrainingResult, check_ranks_entities, effective_settings, train_or_resume
from nary.training.trainer import TrainingError

Space = Mapping[str, Sequence[Any]]
"""The values to try for each key of a recipe, such as ``model.dropout``."""
Values = dict[str, Any]
Train = Callable[[Recipe, Path, Callable[[], Dataset]], TrainingResult]
"""Trains a recipe in a folder, or resumes it; see :func:`nary.runs.training.train_or_resume`."""
Search = Generator[Values, float, None]
"""Yields settings to try and is sent the score they reached; larger is better."""
SEARCHES = ("grid", "each", "random", "tpe")
DEFAULT_TRIALS = 10
"""The number of trials of random and TPE searches."""
VALID_SHARE = 0.2
"""The share of train to hold out for datasets without a valid split, as usual for JF17K."""
_TUNABLE = ("model", "loss", "training")
_TPE_ATTEMPTS = 20  # proposals per trial, because the sampler may repeat itself


@dataclass(frozen=True)
class Trial:
    """The settings of one run and the score they reached."""

    values: Values
    folder: Path
    mrr: float | None
    """The entity MRR on valid; None if training diverged."""
    epochs: int
    """The number of epochs after which the score was reached."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"values": self.values, "run": str(self.folder), "mrr": self.mrr, "epochs": self.epochs}


class Tuning:
    """Trials of ``recipe`` on ``dataset``, each in a run folder of its own below ``folder``."""

    def __init__(self, dataset: Dataset, recipe: Recipe, space: Space, folder: Path) -> None:
        self.folder = folder
        self._dataset, self._held_out = _without_test(dataset, recipe.data.valid_fraction)
        self.notes = self._dataset.notes[len(dataset.notes) :]
        """How the facts were split."""
        self._tables = with_overrides(recipe.as_tables(), {"data.train_on": ["train"]})
        self._tables["data"].pop("valid_fraction", None)  # the facts are split already
        check_ranks_entities(recipe)
        _check(space)
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
        converged = [trial for trial in trials if trial.mrr is not None]
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
        report = trial_report(folder)
        if report is None:
            try:
                result = train(recipe, folder, lambda: self._dataset)
            except TrainingError:
                return Trial(values, folder, None, 0)
            if not result.model.reports:  # it was not evaluated during training
                result.model.add_report(result.model.evaluate("valid"), result.run_folder.model_path)
            report = trial_report(folder)
        elif effective_settings(RunFolder(folder).recipe) != effective_settings(recipe):
            raise OutputError(
                f"{folder} holds a run with other settings", "Choose another --out, or remove that folder."
            )
        mrr = None if report is None else float(report.metrics["entity"]["mrr"])
        return Trial(values, folder, mrr, _best_epochs(folder, recipe))


def parse_space(texts: Sequence[str]) -> Space:
    """Parse search spaces such as ``training.learning_rate=1e-3,2e-3``; values are TOML or plain words."""
    space: dict[str, list[Any]] = {}
    for text in texts:
        key, equals, given = text.partition("=")
        parts = given.split(",")
        if not equals or not all(part.strip() for part in parts):
            raise SettingError(f"cannot read the grid {text!r}", "Write table.key=value,value: model.dropout=0.1,0.2")
        key = key.strip()
        if key in space:
            raise SettingError(f"{key} is given twice", f"List all values at once: --grid {key}=VALUE,VALUE")
        space[key] = [parse_overrides([f"{key}={part}"])[key] for part in parts]
    return space


def new_search(kind: str, space: Space, trials: int | None, seed: int) -> Search:
    """The search called ``kind``, one of ``SEARCHES``; equal seeds and scores give equal proposals."""
    if kind not in SEARCHES:
        raise SettingError(f"unknown search: --search {kind}", f"Expected {', '.join(SEARCHES)}.")
    if kind in ("grid", "each"):
        if trials is not None:
            raise SettingError(f"--trials with {kind}, which tries everything", "Add --search random or --search tpe.")
        return _listed(combinations(space) if kind == "grid" else one_at_a_time(space))
    if trials is not None and trials < 1:
        raise SettingError(f"--trials {trials}", "Expected 1 or more.")
    number = min(trials or DEFAULT_TRIALS, len(combinations(space)))
    if kind == "random":
        return _listed(random.Random(seed).sample(combinations(space), number))
    return _tpe(space, number, seed)


def combinations(space: Space) -> list[Values]:
    """All combinations of values; the last key varies fastest."""
    return [dict(zip(space, values, strict=True)) for values in product(*space.values())]


def one_at_a_time(space: Space) -> list[Values]:
    """The unchanged recipe, then every value on its own."""
    return [{}, *({key: value} for key, values in space.items() for value in values)]


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


def _listed(proposals: Sequence[Values]) -> Search:
    for values in proposals:  # noqa: UP028 (a list cannot be sent scores)
        yield values


def _tpe(space: Space, trials: int, seed: int) -> Search:
    """A tree-structured Parzen estimator; repeated proposals get the score they had before."""
    try:
        import optuna  # type: ignore[import-not-found, unused-ignore]  # it comes with an extra
    except ImportError:
        raise MissingExtraError("Searching with tpe", "tune") from None

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    scores: dict[tuple[int, ...], float] = {}
    for _ in range(_TPE_ATTEMPTS * trials):
        proposal = study.ask()
        # by index, because values may be of any type
        chosen = tuple(proposal.suggest_categorical(key, range(len(values))) for key, values in space.items())
        if chosen not in scores:
            scores[chosen] = yield {key: space[key][index] for key, index in zip(space, chosen, strict=True)}
        study.tell(proposal, scores[chosen])
        if len(scores) == trials:
            return


def _check(space: Space) -> None:
    if not space:
        raise SettingError("the search space is empty", "Give --grid KEY=VALUE,VALUE: --grid model.dropout=0.1,0.2")
    for key, values in space.items():
        if key.partition(".")[0] not in _TUNABLE:
            raise SettingError(f"{key} cannot be tuned", "Tune keys of model, loss or training.")
        if len(set(map(str, values))) < len(values):
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
    validations = [record for record in RunFolder(folder).records() if "valid_mrr" in record]
    best = max(validations, key=lambda record: record["valid_mrr"])  # the first of equal ones
    return min(ceil(round(best["epoch"], 3)), epochs)
