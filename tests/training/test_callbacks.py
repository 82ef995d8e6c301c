"""Callbacks: what they are told, in which order, and that they can stop a training."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
from training.small import OnStep
from training.test_trainer import same_weights, scripted, trained

from nary.training.callbacks import Callback, StepReport, ValidationReport
from nary.training.checkpoint import Checkpoints, TrainState
from nary.training.trainer import Trainer


class Recorder(Callback):
    """Everything it is told."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []

    def on_start(self, trainer: Trainer) -> None:
        self.events.append(("start", trainer.state.step))

    def on_step(self, trainer: Trainer, report: StepReport) -> None:
        self.events.append(("step", report.step))

    def on_validate(self, trainer: Trainer, report: ValidationReport) -> None:
        self.events.append(("validate", (report.step, report.score, report.is_best)))

    def on_checkpoint(self, trainer: Trainer, state: TrainState) -> None:
        self.events.append(("checkpoint", state.step))

    def on_end(self, trainer: Trainer, state: TrainState) -> None:
        self.events.append(("end", state.step))


class StopAt(Callback):
    """Stops after a step."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_step(self, trainer: Trainer, report: StepReport) -> None:
        if report.step == self.step:
            trainer.stop()


def test_a_plain_callback_hears_everything_and_changes_nothing() -> None:
    assert same_weights(trained(None, callbacks=[Callback()]), trained(None))


def test_events_come_in_order() -> None:
    recorder = Recorder()
    trainer = trained(None, scripted([0.2, 0.1]), [recorder], epochs=2, eval_every=1)
    half, last = trainer.batches.num_steps(1), trainer.num_steps
    assert recorder.events == [
        ("start", 0),
        *(("step", step) for step in range(1, half + 1)),
        ("validate", (half, 0.2, True)),
        *(("step", step) for step in range(half + 1, last + 1)),
        ("validate", (last, 0.1, False)),
        ("checkpoint", last),
        ("end", last),
    ]


def test_a_callback_stops_training(tmp_path: Path) -> None:
    recorder = Recorder()
    trainer = trained(Checkpoints(tmp_path), callbacks=[StopAt(5), recorder])
    assert recorder.events[-3:] == [("step", 5), ("checkpoint", 5), ("end", 5)]
    assert (trainer.state.step, trainer.state.interrupted) == (5, False)
    assert not same_weights(trainer, trained(None))


def test_a_stopped_training_can_be_resumed(tmp_path: Path) -> None:
    trained(Checkpoints(tmp_path), callbacks=[StopAt(5)])
    recorder = Recorder()
    resumed = trained(Checkpoints(tmp_path), callbacks=[recorder])
    assert recorder.events[:2] == [("start", 5), ("step", 6)]
    assert same_weights(resumed, trained(None))


def test_a_training_that_was_stopped_keeps_its_best_weights() -> None:
    weights: dict[int, torch.Tensor] = {}

    class Keep(Callback):
        def on_step(self, trainer: Trainer, report: StepReport) -> None:
            weights[report.step] = next(trainer.model.parameters()).detach().clone()

    class StopAfterTwo(Callback):
        def on_validate(self, trainer: Trainer, report: ValidationReport) -> None:
            if not report.is_best:
                trainer.stop()

    trainer = trained(None, scripted([0.2, 0.1]), [Keep(), StopAfterTwo()], epochs=4, eval_every=1)
    assert trainer.state.step == trainer.batches.num_steps(2)
    assert torch.equal(next(trainer.model.parameters()), weights[trainer.batches.num_steps(1)])


def test_after_an_interrupt_the_end_is_told_with_the_reason() -> None:
    ended: list[bool] = []

    class AtEnd(Callback):
        def on_end(self, trainer: Trainer, state: TrainState) -> None:
            ended.append(state.interrupted)

    def interrupt(report: StepReport) -> None:
        if report.step == 3:
            os.kill(os.getpid(), signal.SIGINT)

    trainer = trained(None, callbacks=[OnStep(interrupt), AtEnd()])
    assert (trainer.state.step, ended) == (3, [True])


def test_what_a_step_is_told(tmp_path: Path) -> None:
    reports: list[StepReport] = []
    trainer = trained(None, callbacks=[OnStep(reports.append)])
    last = reports[-1]
    assert (last.step, last.steps) == (trainer.num_steps, trainer.num_steps)
    assert last.epoch == pytest.approx(3, abs=0.2)
    assert 0 < last.loss < 10
    assert last.instances_per_second > 0
    assert last.seconds == pytest.approx(trainer.state.seconds)
    assert [report.learning_rate for report in reports[:2]] == [0, pytest.approx(0.01 / (0.1 * last.steps))]
