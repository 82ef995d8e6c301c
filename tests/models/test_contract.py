"""Every model keeps to the contract."""

from contracts.model import ModelContract

_SMALL = {"num_layers": 2, "num_heads": 2, "hidden_dim": 16, "ffn_dim": 16, "dropout": 0.1}
_BY_HEART = {
    "model__num_layers": 1,
    "model__num_heads": 4,
    "model__hidden_dim": 32,
    "model__ffn_dim": 64,
    "model__dropout": 0.0,
    "training__epochs": 200,
    "training__batch_size": 64,
    "training__learning_rate": 0.01,
    "training__weight_decay": 0.0,
}


class TestGran(ModelContract):
    name = "gran"
    settings = _SMALL
    learns = _BY_HEART


_OPTIONS = {
    "role_embeddings": "position",
    "edge_bias": "per-layer",
    "pair_edges": True,
    "norm": "pre",
    "tie_embeddings": False,
    "head": "equation",
}


class TestGranWithEverything(ModelContract):
    """Each option away from its published value."""

    name = "gran"
    settings = _SMALL | _OPTIONS
    order_free = False
    learns = _BY_HEART | {f"model__{key}": value for key, value in _OPTIONS.items()}


class TestFrequency(ModelContract):
    name = "frequency"


class TestRules(ModelContract):
    name = "rules"
