"""Every model keeps to the contract."""

from typing import Any, ClassVar

from contracts.model import ModelContract, asking, kinds_of
from runs.small import small_recipe, train_in

from nary.data.dataset import Dataset
from nary.models.base import Model
from nary.runs import fit_epochs

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
    "partial_embedding": True,
    "composition_residual": True,
}


class TestGranWithEverything(ModelContract):
    """Each option away from its published value."""

    name = "gran"
    settings = _SMALL | _OPTIONS
    order_free = False
    marks_partial = True
    learns = _BY_HEART | {f"model__{key}": value for key, value in _OPTIONS.items()}


class TestGranWithNearFacts(ModelContract):
    name = "gran"
    settings: ClassVar[dict[str, Any]] = {**_SMALL, "near_facts": 2}
    depends_on_facts = True


class TestFrequency(ModelContract):
    name = "frequency"
    depends_on_facts = True


class TestRules(ModelContract):
    name = "rules"
    depends_on_facts = True


_PARTS = [
    {"model": {"name": "rules"}},
    {"model": {"name": "gran", **_SMALL}, "training": {"epochs": 4, "batch_size": 32, "precision": "fp32"}},
    {
        "model": {"name": "m-distmult", "embedding_dim": 8},
        "training": {"epochs": 2, "batch_size": 32, "precision": "fp32"},
    },
]


class BlendContract(ModelContract):
    """What is different for a model of models."""

    marks_partial = True

    name = "blend"

    def test_a_recipe_for_a_given_time_has_steps_to_train(self, data: Dataset) -> None:
        recipe = small_recipe(data, self.name, model__parts=self.settings["parts"])
        fitted = fit_epochs(data, recipe, 1e-4)
        steps = [part.training.max_steps for part in fitted.parts if part.model_name != "rules"]
        assert min(steps) > 0
        assert train_in(None, data, fitted).steps == sum(steps)
        assert (
            fit_epochs(data, small_recipe(data, self.name, model__parts=["rules"]), 1).parts[0].training.epochs == 100
        )


class TestBlend(BlendContract):
    """Of a model without weights, one for all roles and one for entities."""

    depends_on_facts = True
    settings: ClassVar[dict[str, Any]] = {"parts": _PARTS}

    def test_gradients_reach_every_parameter(self, model: Model, data: Dataset) -> None:
        """Parts are trained apart; this blend has no query vectors, so that no loss is defined for it."""
        for kind in kinds_of(model):
            model.score(asking(data.train, kind), kind).logsumexp(1).sum().backward()  # type: ignore[no-untyped-call]
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None, name
            assert parameter.grad.abs().max() > 0, name


class TestBlendWithVectors(BlendContract):
    """Of models with query vectors, which it has therefore too."""

    settings: ClassVar[dict[str, Any]] = {"parts": _PARTS[1:]}
