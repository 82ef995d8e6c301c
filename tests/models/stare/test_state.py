"""Saved and loaded again: the message graph is built from the facts in the folder."""

from pathlib import Path
from typing import Any

import pytest
import torch
from contracts.model import asking
from models.stare.test_contract import SMALL
from runs.small import small_data, small_recipe, small_run

from nary.errors import SettingError
from nary.inference.folder import load_module, read_description, save_description, save_weights
from nary.models.base import DatasetInfo
from nary.models.stare.model import Stare, StareSettings
from nary.runs import load_model


def model_settings(**settings: Any) -> dict[str, Any]:
    """The settings of a small model, as keys of a recipe."""
    return {f"model__{key}": value for key, value in (SMALL | settings).items()}


def saved(folder: Path, **settings: Any) -> Stare:
    data = small_data()
    model = Stare(StareSettings(**(SMALL | settings)), DatasetInfo.from_dataset(data))
    save_description(folder, data, small_recipe(data, "stare", **model_settings(**settings)))
    save_weights(folder / "model.safetensors", model)
    return model.eval()


def loaded(folder: Path) -> Stare:
    model = load_module(folder, read_description(folder).recipe, small_data())
    assert isinstance(model, Stare)
    return model


@pytest.mark.parametrize("variant", ["graph", "transformer"])
def test_a_loaded_model_is_the_same(variant: str, tmp_path: Path) -> None:
    model = saved(tmp_path / "model", variant=variant)
    batch = asking(small_data().test, "entity")
    assert torch.equal(loaded(tmp_path / "model").score(batch, "entity"), model.score(batch, "entity"))
    assert not any("graph." in name for name in model.state_dict())


def test_a_run_learns_and_loads_the_graph_of_the_splits_it_learns_from(tmp_path: Path) -> None:
    trained = small_run(tmp_path / "run", "stare", data__train_on=["train", "valid"], **model_settings())
    again = load_model(tmp_path / "run").module
    assert isinstance(again, Stare)
    assert again.encoder is not None
    assert again.encoder.graph.num_edges == len(trained.dataset.train) + len(trained.dataset["valid"])
    batch = asking(trained.dataset.test, "entity")
    assert torch.equal(again.score(batch, "entity"), trained.module.score(batch, "entity"))


def test_a_run_that_predicts_subjects_and_objects(tmp_path: Path) -> None:
    small_run(
        tmp_path / "run",
        "stare",
        loss__name="bce",
        training__shuffle="instances",
        training__merge_queries=True,
        **model_settings(predicts="subject-object"),
    )
    model = load_model(tmp_path / "run")
    metrics = model.evaluate("test").metrics
    assert metrics["entity"] == metrics["subject/object"]
    assert "value" not in metrics
    assert "relation" not in metrics
    fact = next(iter(model.dataset.test.facts(model.dataset.vocabulary)))
    with pytest.raises(SettingError, match="stare cannot predict the relation"):
        model.predict(f"{fact.subject} | ? | {fact.object}")
