"""The training loop: plain, resumable, interruptible."""

import math
import time
from collections.abc import Callable, Sequence

import torch

from nary.errors import NaryError
from nary.models.alternation import Phase
from nary.models.base import Model
from nary.models.weights import is_finite
from nary.training.batches import TrainingBatch, TrainingBatches
from nary.training.callbacks import Callback, StepReport, ValidationReport
from nary.training.checkpoint import Checkpoints, MemoryCheckpoints, TrainState
from nary.training.losses import Loss
from nary.training.optimizer import Optimizer
from nary.training.runtime import deferred_interrupts, keep_freed_memory, precision
from nary.training.settings import TrainingSettings

_DIVERGED = (
    "The last checkpoint is untouched. Try a smaller training.learning_rate, a longer training.warmup_ratio, or fp32."
)

Validate = Callable[[], float]
"""Ranks the valid split with the model as it is; larger is better."""


class TrainingError(NaryError):
    """The training cannot go on."""

    kind = "training"
    exit_code = 1


class Trainer:
    """Trains ``model`` on ``batches``.

    With ``checkpoints`` it resumes from the newest one and writes new ones; without, everything stays in memory.
    ``validate`` is called as ``training.eval_every`` says, and the weights with the best score are kept.
    """

    may_insist = True
    """Whether a second Ctrl-C ends the training without saving."""

    def __init__(
        self,
        model: Model,
        batches: TrainingBatches,
        loss: Loss,
        settings: TrainingSettings,
        checkpoints: Checkpoints | None = None,
        device: torch.device | None = None,
        validate: Validate | None = None,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.model = model
        self.batches = batches
        self.loss = loss
        self.settings = settings
        self.checkpoints = checkpoints or MemoryCheckpoints()
        self.device = device or torch.device("cpu")
        self.validate = validate
        self.callbacks = callbacks
        self.state = TrainState()
        self.num_steps = batches.num_steps(settings.epochs)
        if settings.max_steps:
            self.num_steps = min(self.num_steps, settings.max_steps)
        self.optimizer: Optimizer
        self._alternation = model.alternation()
        self._eval_steps = self._steps_to_validate()
        self._stop = False

    def stop(self) -> None:
        """End the training after the current step, as if it were the last."""
        self._stop = True

    def fit(self) -> TrainState:
        """Train to the end, or until Ctrl-C, which saves the step: then ``state.interrupted`` is true."""
        self._stop = False
        trainable = any(parameter.requires_grad for parameter in self.model.parameters())
        if trainable:  # otherwise Model.prepare has learned all there is
            keep_freed_memory()
            phases = self._alternation.phases if self._alternation else ()
            self.optimizer = self._make_optimizer(phases)
            self.state = self.checkpoints.restore(self.model, self.optimizer)
        for callback in self.callbacks:
            callback.on_start(self)
        if trainable and not self._out_of_patience():
            self._run()
        if trainable and not self.state.interrupted:
            self._complete()
        for callback in self.callbacks:
            callback.on_end(self, self.state)
        return self.state

    def _run(self) -> None:
        saved = time.monotonic()
        with deferred_interrupts(self.may_insist) as interrupted:
            while self.state.step < self.num_steps and not self._stop:
                self._step()
                if self.state.step in self._eval_steps:
                    self._validate()
                last, leave, due = self._agree(
                    self._stop or self._out_of_patience() or self.state.step == self.num_steps,
                    interrupted(),  # asked once: whoever leaves has saved
                    time.monotonic() - saved > 60 * self.settings.checkpoint_minutes,
                )
                if last or leave or due:
                    self._save()
                    saved = time.monotonic()
                if last or leave:
                    self.state.interrupted = not last
                    return

    def _step(self) -> None:
        start = time.perf_counter()
        state, phase = self.state, self._phase()
        self.model.train()
        batch = self.batches.batch_at(state.step).to(self.device)
        torch.manual_seed((self.settings.seed << 32) + state.step)  # dropout and negatives depend on the step alone
        value = self._backward(batch, phase)
        if not math.isfinite(value):
            raise TrainingError(f"the loss is {value} at step {state.step + 1}", _DIVERGED)
        learning_rate = self.optimizer.learning_rate(state.step, phase)
        self.optimizer.step(state.step, phase)
        self.model.post_step()
        state.step += 1
        seconds = time.perf_counter() - start
        state.seconds += seconds
        speed = self.settings.batch_size / seconds
        report = StepReport(state.step, self.num_steps, self._epoch(), value, learning_rate, speed, state.seconds)
        for callback in self.callbacks:
            callback.on_step(self, report)

    def _agree(self, *flags: bool) -> tuple[bool, ...]:
        """What several processes decide together."""
        return flags

    def _complete(self) -> None:
        """Give the model the weights that training ends with."""
        if self.state.best is not None:
            self.checkpoints.restore_best(self.model)

    def _make_optimizer(self, phases: Sequence[Phase]) -> Optimizer:
        return Optimizer(self.model, self.settings, self.num_steps, phases)

    def _backward(self, batch: TrainingBatch, phase: Phase | None) -> float:
        """The loss of a batch; its gradients are left for the optimizer."""
        with precision(self.settings.precision, self.device):
            loss = phase.loss(batch.batch) if phase else self.loss(self.model, batch)
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.item()

    def _phase(self) -> Phase | None:
        """The phase of the epoch in which the next step begins."""
        if self._alternation is None:
            return None
        return self._alternation.at(self.state.step * self.settings.batch_size // len(self.batches))

    def _epoch(self) -> float:
        return self.state.step * self.settings.batch_size / len(self.batches)

    def _steps_to_validate(self) -> frozenset[int]:
        every = self.settings.eval_every
        if self.validate is None or not every:
            return frozenset()
        epochs = range(every, self.settings.epochs + 1, every)
        return frozenset([*(self.batches.num_steps(epoch) for epoch in epochs), self.num_steps])

    def _validate(self) -> None:
        assert self.validate is not None
        state, score = self.state, self.validate()
        is_best = state.best is None or score > state.best
        if is_best:
            state.best, state.best_step, state.since_best = score, state.step, 0
            self._save_best()
        else:
            state.since_best += 1
        report = ValidationReport(state.step, self._epoch(), state.seconds, score, is_best)
        for callback in self.callbacks:
            callback.on_validate(self, report)

    def _save_best(self) -> None:
        self.checkpoints.save_best(self.model, self.state)

    def _out_of_patience(self) -> bool:
        return 0 < self.settings.patience <= self.state.since_best

    def _save(self) -> None:
        if not all(is_finite(parameter) for parameter in self.model.parameters()):
            raise TrainingError(f"weights are no longer finite at step {self.state.step}", _DIVERGED)
        self.checkpoints.save(self.model, self.optimizer, self.state)
        for callback in self.callbacks:
            callback.on_checkpoint(self, self.state)
