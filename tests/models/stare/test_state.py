"""Saved and loaded again: the message graph is built from the facts in the folder."""

from pathlib import Path

import pytest
import torch
from contracts.model import asking
from models.stare.test_contract import SMALL
from runs.small import small_data, small_run

from nary.errors import SettingError
from nary.inference.folder import (
    load_model,
    read_description,
    save_description,
    save_weights,
)
from nary.models.base import DatasetInfo
from nary.models.stare.model import Stare, StareSettings
from nary.runs.run import load_run


def saved(folder: Path, **settings: object) -> Stare:
    data = small_data()
    model = Stare(StareSettings.model_validate(SMALL | settings), DatasetInfo.from_dataset(data))
    save_description(folder, data, model.settings)
    save_weights(folder, model)
    return model.eval()


def loaded(folder: Path) -> Stare:
    model = load_model(folder, read_description(folder), small_data())
    assert isinstance(model, Stare)
    return model


@pytest.mark.parametrize("variant", ["graph", "transformer"])
def test_a_loaded_model_is_the_same(variant: str, tmp_path: Path) -> None:
    model = saved(tmp_path / "model", variant=variant)
    batch = asking(small_data().test, "entity")
    assert torch.equal(loaded(tmp_path / "model").score(batch, "entity"), model.score(batch, "entity"))
    assert not any("graph." in name for name in model.state_dict())


def test_a_run_learns_and_loads_the_graph_of_the_splits_it_learns_from(tmp_path: Path) -> None:
    settings = {f"model__{key}": value for key, value in SMALL.items()}
    run = small_run(tmp_path / "run", "stare", data__train_on=["train", "valid"], **settings)
    again = load_run(tmp_path / "run").model
    assert isinstance(again, Stare)
    assert again.encoder is not None
    assert again.encoder.graph.num_edges == len(run.dataset.train) + len(run.dataset["valid"])
    batch = asking(run.dataset.test, "entity")
    assert torch.equal(again.score(batch, "entity"), run.model.score(batch, "entity"))


def test_a_run_that_predicts_subjects_and_objects(tmp_path: Path) -> None:
    settings = {f"model__{key}": value for key, value in SMALL.items()}
    small_run(
        tmp_path / "run",
        "stare",
        model__predicts="subject-object",
        training__loss="bce",
        training__shuffle="instances",
        training__merge_queries=True,
        **settings,
    )
    run = load_run(tmp_path / "run")
    metrics = run.evaluate("test").metrics
    assert metrics["entity"] == metrics["subject/object"]
    assert "value" not in metrics
    assert "relation" not in metrics
    fact = next(iter(run.dataset.test.facts(run.dataset.vocabulary)))
    with pytest.raises(SettingError, match="stare cannot predict the relation"):
        run.predict(f"{fact.subject} | ? | {fact.object}")
