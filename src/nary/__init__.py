"""Nary: link prediction on n-ary facts.

>>> import nary
>>> data = nary.load("nobel")
>>> result = nary.train(data, model="gran", epochs=20)  # doctest: +SKIP
>>> print(result.model.evaluate("test"))  # doctest: +SKIP
>>> result.model.predict("Marie Curie | award received | ? | point in time: 1911", k=5)  # doctest: +SKIP

Data: ``load`` (by name), ``read`` and ``write`` (files), ``Dataset``, ``FactTable``, ``Vocabulary``, ``list_datasets``.

Facts: ``Fact``, ``Query``, ``parse_fact``, ``parse_query``, ``Position``, ``GAP``.

Training: ``train`` and ``resume`` return a ``TrainingResult``; ``train_seeds``, ``blend``, ``compare``, ``Recipe``,
``Callback``, ``RunFolder``, ``list_models``, ``list_recipes``.

Trackers, as callbacks: ``TensorBoardTracker``, ``MLflowTracker``, ``WandbTracker``, ``CSVTracker``, ``JSONTracker``;
``Tracker`` is their base.

Models: ``load_model`` returns a ``TrainedModel``, which predicts, scores, suggests, explains, evaluates (by a
``Protocol``) and saves; ``push`` shares it.

Components of your own: ``Model``, ``register_model``, ``register_loss``, ``register_metric``, ``register_format``,
``register_dataset``, ``register_tracker``.

Errors of users are ``NaryError``. The guides are in ``docs/``; start with ``docs/python.md``.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from nary import threads as _threads
from nary.version import __version__ as __version__

if TYPE_CHECKING:
    from nary.api import blend, list_datasets, list_models, list_recipes, push, resume, train, train_seeds
    from nary.data.catalog import register_dataset
    from nary.data.dataset import Dataset
    from nary.data.io.formats import register_format
    from nary.data.io.reader import read
    from nary.data.io.writer import write
    from nary.data.load import load
    from nary.errors import NaryError
    from nary.evaluation.metrics import register_metric
    from nary.evaluation.protocol import Protocol
    from nary.facts import GAP, Fact, FactTable, Position, Query, Vocabulary, parse_fact, parse_query
    from nary.models.base import Model
    from nary.models.registry import register_model
    from nary.recipe import Recipe
    from nary.reproduction.comparison import compare
    from nary.runs import RunFolder, TrainedModel, TrainingResult, load_model
    from nary.runs.trackers import Tracker, register_tracker
    from nary.runs.trackers.files import CSVTracker, JSONTracker
    from nary.runs.trackers.mlflow import MLflowTracker
    from nary.runs.trackers.tensorboard import TensorBoardTracker
    from nary.runs.trackers.wandb import WandbTracker
    from nary.training.callbacks import Callback
    from nary.training.losses import register_loss

_threads.configure()  # before anything imports torch

_MODULES = {
    "nary.api": ("blend", "list_datasets", "list_models", "list_recipes", "push", "resume", "train", "train_seeds"),
    "nary.data.catalog": ("register_dataset",),
    "nary.data.dataset": ("Dataset",),
    "nary.data.io.formats": ("register_format",),
    "nary.data.io.reader": ("read",),
    "nary.data.io.writer": ("write",),
    "nary.data.load": ("load",),
    "nary.errors": ("NaryError",),
    "nary.evaluation.metrics": ("register_metric",),
    "nary.evaluation.protocol": ("Protocol",),
    "nary.facts": ("GAP", "Fact", "FactTable", "Position", "Query", "Vocabulary", "parse_fact", "parse_query"),
    "nary.models.base": ("Model",),
    "nary.models.registry": ("register_model",),
    "nary.recipe": ("Recipe",),
    "nary.reproduction.comparison": ("compare",),
    "nary.runs": ("RunFolder", "TrainedModel", "TrainingResult", "load_model"),
    "nary.runs.trackers": ("Tracker", "register_tracker"),
    "nary.runs.trackers.files": ("CSVTracker", "JSONTracker"),
    "nary.runs.trackers.mlflow": ("MLflowTracker",),
    "nary.runs.trackers.tensorboard": ("TensorBoardTracker",),
    "nary.runs.trackers.wandb": ("WandbTracker",),
    "nary.training.callbacks": ("Callback",),
    "nary.training.losses": ("register_loss",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}
__all__ = [
    "GAP",
    "CSVTracker",
    "Callback",
    "Dataset",
    "Fact",
    "FactTable",
    "JSONTracker",
    "MLflowTracker",
    "Model",
    "NaryError",
    "Position",
    "Protocol",
    "Query",
    "Recipe",
    "RunFolder",
    "TensorBoardTracker",
    "Tracker",
    "TrainedModel",
    "TrainingResult",
    "Vocabulary",
    "WandbTracker",
    "blend",
    "compare",
    "list_datasets",
    "list_models",
    "list_recipes",
    "load",
    "load_model",
    "parse_fact",
    "parse_query",
    "push",
    "read",
    "register_dataset",
    "register_format",
    "register_loss",
    "register_metric",
    "register_model",
    "register_tracker",
    "resume",
    "train",
    "train_seeds",
    "write",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: ``import nary`` stays fast."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'nary' has no attribute {name!r}")
    _threads.requested_threads()  # an error if it is not a number
    return getattr(_import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
