"""The models of tuples keep to the contract."""

from typing import Any

from contracts.model import ModelContract
from models.tuples.small import SETTINGS

_BY_HEART = {
    "training__epochs": 60,
    "training__batch_size": 32,
    "training__learning_rate": 0.02,
    "training__weight_decay": 0.0,
}


class TupleContract(ModelContract):
    """A model of tuples sees the order of qualifiers."""

    order_free = False


def learning(**settings: Any) -> dict[str, Any]:
    return _BY_HEART | {f"model__{key}": value for key, value in settings.items()}


class TestNCP(TupleContract):
    name = "n-cp"
    settings = SETTINGS["n-cp"]
    learns = learning(embedding_dim=16)


class TestNTuckER(TupleContract):
    name = "n-tucker"
    settings = SETTINGS["n-tucker"]
    learns = learning(embedding_dim=10, hidden_dropout=0.0, input_dropout=0.0)


class TestGETD(TupleContract):
    name = "getd"
    settings = SETTINGS["getd"]
    learns = learning(embedding_dim=10, rank=5, hidden_dropout=0.0, input_dropout=0.0)


class TestHypE(TupleContract):
    name = "hype"
    settings = SETTINGS["hype"]
    learns = learning(embedding_dim=32, dropout=0.0, input_dropout=0.0)


class TestMDistMult(TupleContract):
    name = "m-distmult"
    settings = SETTINGS["m-distmult"]


class TestMCP(TupleContract):
    name = "m-cp"
    settings = SETTINGS["m-cp"]
    learns = learning(embedding_dim=16, dropout=0.0)


class TestHSimplE(TupleContract):
    name = "hsimple"
    settings = SETTINGS["hsimple"]
    learns = learning(embedding_dim=32, dropout=0.0)


class TestRAM(TupleContract):
    name = "ram"
    settings = SETTINGS["ram"]
    learns = learning(embedding_dim=16, role_dropout=0.0, entity_dropout=0.0) | {"training__epochs": 120}


class TestMTransH(TupleContract):
    name = "m-transh"
    settings = SETTINGS["m-transh"]
    loss = "margin"
    learns = learning(embedding_dim=32)


class TestMTransHOfHypE(TupleContract):
    name = "m-transh"
    settings = SETTINGS["m-transh"] | {"variant": "hype", "dropout": 0.2}
    loss = "sampled_cross_entropy"
    learns = learning(embedding_dim=32, variant="hype")


class TestRAE(TupleContract):
    name = "rae"
    settings = SETTINGS["rae"]
    loss = "margin"
    learns = learning(embedding_dim=32) | {"training__epochs": 150}
