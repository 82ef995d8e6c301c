"""Successive halving: trainings that are behind at a fraction of their epochs are stopped there."""

from collections.abc import Iterable
from typing import Any

from nary.runs.search import import_optuna
from nary.training.callbacks import Callback, ValidationReport
from nary.training.trainer import Trainer

FACTOR = 3
"""Of the trainings that reach a rung, the best third goes on, to a rung three times as high."""


class SuccessiveHalving:
    """Optuna's asynchronous successive halving of trials, one after the other; the first rung is at ``min_epochs``."""

    def __init__(self, min_epochs: int) -> None:
        optuna = import_optuna("Successive halving")
        self._states = optuna.trial.TrialState
        pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=min_epochs, reduction_factor=FACTOR)
        self._study = optuna.create_study(direction="maximize", pruner=pruner)

    def trial(self) -> "HalvingTrial":
        """Another trial; end it before the next one."""
        return HalvingTrial(self._study, self._states)


class HalvingTrial(Callback):
    """Follows the validations of one training and stops it when it is behind."""

    def __init__(self, study: Any, states: Any) -> None:
        self._study, self._states = study, states
        self._trial = study.ask()
        self._reported: set[int] = set()
        self.behind = False
        """Whether the training was, or is to be, stopped."""

    def replay(self, validations: Iterable[tuple[float, float]]) -> None:
        """Take in the validations of an earlier session: epoch and score."""
        for epoch, score in validations:
            self._report(epoch, score)

    def on_start(self, trainer: Trainer) -> None:
        """Stop a resumed training that was behind already."""
        if self.behind:
            trainer.stop()

    def on_validate(self, trainer: Trainer, report: ValidationReport) -> None:
        """Stop the training if it is behind."""
        self._report(report.epoch, report.score)
        if self.behind:
            trainer.stop()

    def end(self, score: float | None) -> None:
        """The final score; None if the training diverged."""
        if score is None or self.behind:
            self._study.tell(self._trial, state=self._states.PRUNED if self.behind else self._states.FAIL)
        else:
            self._study.tell(self._trial, score)

    def _report(self, epoch: float, score: float) -> None:
        step = round(epoch)
        if step not in self._reported and not self.behind:
            self._reported.add(step)
            self._trial.report(score, step)
            self.behind = self._trial.should_prune()
