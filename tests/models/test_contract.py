"""Every model keeps to the contract."""

from contracts.model import ModelContract

_SMALL = {"layers": 2, "heads": 2, "width": 16, "inner": 16, "dropout": 0.1}
_BY_HEART = {
    "model__layers": 1,
    "model__heads": 4,
    "model__width": 32,
    "model__inner": 64,
    "model__dropout": 0.0,
    "training__epochs": 200,
    "training__batch": 64,
    "training__rate": 0.01,
    "training__decay": 0.0,
}


class TestGran(ModelContract):
    name = "gran"
    settings = _SMALL
    learns = _BY_HEART


_OPTIONS = {
    "embeddings": "position",
    "edge_bias": "per-layer",
    "extra_edges": True,
    "norm": "pre",
    "tied": False,
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
