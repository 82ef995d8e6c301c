"""The models by name: built in, registered in Python, or from installed packages (entry points ``nary.models``)."""

from typing import TYPE_CHECKING, TypeVar

from nary.registry import Registry

if TYPE_CHECKING:
    from nary.models.base import Model

    ModelClass = TypeVar("ModelClass", bound=type[Model])

MODELS: "Registry[type[Model]]" = Registry(
    "model",
    {
        "gran": "nary.models.gran:Gran",
        "hy-transformer": "nary.models.hy_transformer:HyTransformer",
        "stare": "nary.models.stare.model:Stare",
        "n-cp": "nary.models.tuples.multilinear:NCP",
        "n-tucker": "nary.models.tuples.tensor:NTuckER",
        "getd": "nary.models.tuples.tensor:GETD",
        "hype": "nary.models.tuples.hype:HypE",
        "m-distmult": "nary.models.tuples.multilinear:MDistMult",
        "m-cp": "nary.models.tuples.multilinear:MCP",
        "hsimple": "nary.models.tuples.multilinear:HSimplE",
        "ram": "nary.models.tuples.ram:RAM",
        "m-transh": "nary.models.tuples.m_transh:MTransH",
        "rae": "nary.models.tuples.rae:RAE",
        "nalp": "nary.models.pairs.nalp:NaLP",
        "hinge": "nary.models.pairs.hinge:Hinge",
        "neuinfer": "nary.models.pairs.neuinfer:NeuInfer",
        "rules": "nary.models.rules.model:Rules",
        "blend": "nary.models.blend.model:Blend",
        "frequency": "nary.models.frequency:Frequency",
    },
)
"""``MODELS.get("gran")`` is the class; ``MODELS.get(name)(settings, info)`` builds a model."""


def register_model(model: "ModelClass") -> "ModelClass":
    """Class decorator that makes a model known by its ``name``, in recipes and when its folder is loaded.

    .. code-block:: python

        @register_model
        class MyModel(Model):
            name = "my-model"
            settings_class = MySettings
    """
    MODELS.register(model.name)(model)
    return model
