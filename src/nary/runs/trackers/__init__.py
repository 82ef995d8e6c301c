"""Trackers: callbacks that report a training to TensorBoard, MLflow, Weights & Biases or a file."""

from collections.abc import Iterable

from nary.registry import Registry
from nary.runs.trackers.base import Tracker

__all__ = ["TRACKERS", "Tracker", "make_trackers", "register_tracker"]

TRACKERS: Registry[type[Tracker]] = Registry(
    "tracker",
    {
        "tensorboard": "nary.runs.trackers.tensorboard:TensorBoardTracker",
        "mlflow": "nary.runs.trackers.mlflow:MLflowTracker",
        "wandb": "nary.runs.trackers.wandb:WandbTracker",
        "csv": "nary.runs.trackers.files:CSVTracker",
        "json": "nary.runs.trackers.files:JSONTracker",
    },
)
"""Every tracker by name."""

register_tracker = TRACKERS.register
"""A decorator: ``@register_tracker("mine")`` adds a :class:`Tracker` for ``nary train --track mine``."""


def make_trackers(names: Iterable[str]) -> list[Tracker]:
    """The trackers of options such as ``mlflow`` or ``mlflow=my-experiment``."""
    trackers = []
    for text in names:
        name, _, where = text.partition("=")
        trackers.append(TRACKERS.get(name)(where or None))
    return trackers
