"""The training loop: plain, resumable, interruptible."""

import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from types import FrameType

import torch

from nary.errors import NaryError
from nary.models.alternation import Alternation, Phase
from nary.models.base import Model
from nary.training.allocator import keep_freed_memory
from nary.training.checkpoint import Checkpoints, TrainState
from nary.training.corruptions import Corruptions
from nary.training.instances import Instances
from nary.training.objective import loss_of
from nary.training.optimizer import Optimizer
from nary.training.settings import TrainingSettings

_DIVERGED = (
    "The last checkpoint is untouched. Try a smaller training.learning_rate, a longer training.warmup_ratio, or fp32."
)


class TrainingError(NaryError):
    """The training cannot go on."""

    kind = "training"
    exit_code = 1


@dataclass(frozen=True)
class StepReport:
    """What listeners learn after each step."""

    step: int
    steps: int
    epoch: float
    loss: float
    rate: float
    instances_per_second: float
    seconds: float


Validate = Callable[[], float]
"""Ranks the valid split with the model as it is; larger is better."""
Listener = Callable[[StepReport], None]


@dataclass
class Training:
    """One training of ``model`` on ``instances``."""

    model: Model
    instances: Instances
    settings: TrainingSettings
    checkpoints: Checkpoints
    device: torch.device
    validate: Validate | None = None
    listener: Listener = lambda report: None

    def run(self) -> tuple[TrainState, bool]:
        """Train, from the newest checkpoint on if there is one.

        Returns how far it came, and whether it is finished; it is not after an interrupt, when the last step is saved
        and the same call goes on from there.
        """
        if not any(parameter.requires_grad for parameter in self.model.parameters()):
            return TrainState(), True  # a model that only counts has learned all it can from Model.prepare
        keep_freed_memory()
        steps = self.instances.steps(self.settings.epochs)
        alternation = self.model.alternation()
        optimizer = Optimizer(self.model, self.settings, steps, alternation.phases if alternation else ())
        done = self.checkpoints.restore(self.model, optimizer)
        if self._stopped_early(done):
            steps = done.step
        saved = time.monotonic()
        with _interrupts() as interrupted:
            while done.step < steps:
                self._step(optimizer, done, steps, self._phase(done.step, alternation))
                stop = self._validate(done, steps)
                late = time.monotonic() - saved > 60 * self.settings.checkpoint_minutes
                leave = interrupted()  # asked once: who leaves has saved
                if stop or late or leave or done.step == steps:
                    self._save(optimizer, done)
                    saved = time.monotonic()
                if stop:
                    break
                if leave and done.step < steps:
                    return done, False
        if done.best is not None:
            self.checkpoints.restore_best(self.model)
        return done, True

    def _phase(self, step: int, alternation: Alternation | None) -> Phase | None:
        """The phase of the epoch in which a step begins."""
        return alternation.at(step * self.settings.batch_size // len(self.instances)) if alternation else None

    def _step(self, optimizer: Optimizer, done: TrainState, steps: int, phase: Phase | None) -> None:
        start = time.perf_counter()
        self.model.train()
        lesson = self.instances.at(done.step).to(self.device)
        torch.manual_seed((self.settings.seed << 32) + done.step)  # dropout depends on the step alone
        with precision(self.settings.precision, self.device):
            loss = phase.loss(lesson.batch) if phase else loss_of(self.model, lesson, self.settings, self.corruptions)
        loss.backward()  # type: ignore[no-untyped-call]
        value = loss.item()
        if not math.isfinite(value):
            raise TrainingError(f"the loss is {value} at step {done.step + 1}", _DIVERGED)
        rate = optimizer.rate(done.step, phase)
        optimizer.step(done.step, phase)
        self.model.post_step()
        done.step += 1
        seconds = time.perf_counter() - start
        done.seconds += seconds
        self.listener(
            StepReport(
                done.step,
                steps,
                done.step * self.settings.batch_size / len(self.instances),
                value,
                rate,
                self.settings.batch_size / seconds,
                done.seconds,
            )
        )

    @cached_property
    def corruptions(self) -> Corruptions | None:
        """What facts are learned against, where roles have a say in that."""
        if self.settings.loss != "corruption_bce" and not self.settings.near_negatives:
            return None
        return Corruptions(self.instances.table, self.model.info, self.settings, self.device)

    def _save(self, optimizer: Optimizer, done: TrainState) -> None:
        if not all(parameter.isfinite().all() for parameter in self.model.parameters()):
            raise TrainingError(f"weights are no longer finite at step {done.step}", _DIVERGED)
        self.checkpoints.save(self.model, optimizer, done)

    def _validate(self, done: TrainState, steps: int) -> bool:
        """Validate if it is time to; whether to stop early."""
        every = self.settings.eval_every
        if self.validate is None or not every:
            return False
        step_of = [self.instances.steps(epoch) for epoch in range(every, self.settings.epochs + 1, every)]
        if done.step not in step_of and done.step != steps:
            return False
        score = self.validate()
        if done.best is None or score > done.best:
            done.best, done.best_step, done.since_best = score, done.step, 0
            self.checkpoints.save_best(self.model, done)
        else:
            done.since_best += 1
        return self._stopped_early(done)

    def _stopped_early(self, done: TrainState) -> bool:
        return 0 < self.settings.patience <= done.since_best


def precision(name: str, device: torch.device) -> AbstractContextManager[object]:
    """The context to compute in: bfloat16 where the device multiplies it faster, or where asked for."""
    fast = device.type == "cuda" or (device.type == "cpu" and _cpu_has_bf16())
    if name == "fp32" or (name == "auto" and not fast):
        return nullcontext()
    return torch.autocast(device.type, torch.bfloat16)


def _cpu_has_bf16() -> bool:
    """Whether the CPU multiplies bfloat16 itself; without that it is several times slower than float32."""
    asked = getattr(torch.cpu, "_is_avx512_bf16_supported", None)  # torch has no public name for this question
    return asked is not None and bool(asked())


@contextmanager
def _interrupts() -> Iterator[Callable[[], bool]]:
    """While the body runs, Ctrl-C only sets a flag, so that a step is finished and saved; a second one stops it."""
    seen: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if seen:
            raise KeyboardInterrupt
        seen.append(number)

    try:
        before = signal.signal(signal.SIGINT, note)
    except ValueError:  # not the main thread: leave Ctrl-C to whoever has it
        yield lambda: False
        return
    try:
        yield lambda: bool(seen)
    finally:
        signal.signal(signal.SIGINT, before)
