"""STARE keeps to the contract, with its graph encoder and without."""

from typing import Any, ClassVar

from contracts.model import ModelContract

SMALL: dict[str, Any] = {"hidden_dim": 16, "num_graph_layers": 1, "num_layers": 1, "num_heads": 2, "ffn_dim": 16}
_BY_HEART = {
    "training__epochs": 60,
    "training__batch_size": 32,
    "training__learning_rate": 0.01,
    "training__weight_decay": 0.0,
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
    depends_on_facts = True
    settings: ClassVar[dict[str, Any]] = SMALL | {"pooling": "mean", "degree_norm": "both"}
    learns = learning(pooling="mean", degree_norm="both")


class TestTransformer(StareContract):
    settings: ClassVar[dict[str, Any]] = SMALL | {"variant": "transformer"}
    learns = learning(variant="transformer", pooling="mean", hidden_dim=32)


class TestSigmoid(StareContract):
    depends_on_facts = True
    settings: ClassVar[dict[str, Any]] = SMALL
    loss = "bce"
