"""STARE keeps to the contract, with its graph encoder and without."""

from typing import Any, ClassVar

from contracts.model import ModelContract

SMALL: dict[str, Any] = {"width": 16, "graph_layers": 1, "layers": 1, "heads": 2, "inner": 16}
_BY_HEART = {
    "training__epochs": 60,
    "training__batch": 32,
    "training__rate": 0.01,
    "training__decay": 0.0,
    "model__dropout": 0.0,
    "model__graph_dropout": 0.0,
    "model__message_dropout": 0.0,
}


class StareContract(ModelContract):
    """It sees the order of qualifiers."""

    name = "stare"
    order_free = False


def learning(**settings: Any) -> dict[str, Any]:
    return _BY_HEART | {f"model__{key}": value for key, value in (SMALL | settings).items()}


class TestGraph(StareContract):
    settings: ClassVar[dict[str, Any]] = SMALL | {"pool": "mean", "degrees": "both"}
    learns = learning(pool="mean", degrees="both")


class TestTransformer(StareContract):
    settings: ClassVar[dict[str, Any]] = SMALL | {"variant": "transformer"}
    learns = learning(variant="transformer", pool="mean", width=32)


class TestSigmoid(StareContract):
    settings: ClassVar[dict[str, Any]] = SMALL
    objective = "sigmoid"
