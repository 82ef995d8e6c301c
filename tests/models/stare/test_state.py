"""Saved and loaded again: the message graph goes with the weights."""

from pathlib import Path

import pytest
import torch
from contracts.model import asking
from models.stare.test_contract import SMALL
from nary.runs.run import load_run
from runs.small import small_data, small_run
from safetensors.torch import load_file, save_file

from nary.errors import SettingError
from nary.inference.folder import (
    ModelFolderError,
    load_model,
    read_description,
    save_description,
    save_weights,
    sizes_of,
)
from nary.models.registry import find
from nary.models.stare.model import Stare


def saved(folder: Path, **settings: object) -> Stare:
    data, entry = small_data(), find("stare")
    chosen = entry.settings(**(SMALL | settings))
    model = entry.make(chosen, sizes_of(data))
    assert isinstance(model, Stare)
    model.prepare(data.train)
    save_description(folder, data, chosen)
    save_weights(folder, model)
    return model.eval()


def loaded(folder: Path) -> Stare:
    model = load_model(folder, read_description(folder), small_data())
    assert isinstance(model, Stare)
    return model


@pytest.mark.parametrize("variant", ["graph", "transformer"])
def test_a_model_folder_needs_no_facts(variant: str, tmp_path: Path) -> None:
    model = saved(tmp_path / "model", variant=variant)
    batch = asking(small_data().test, "entity")
    assert torch.equal(loaded(tmp_path / "model").score(batch, "entity"), model.score(batch, "entity"))
    assert ("encoder.graph.edges" in model.state_dict()) == (variant == "graph")


def test_what_a_graph_says_is_said_once(tmp_path: Path) -> None:
    graph = saved(tmp_path / "model").encoder
    assert graph is not None
    facts = {
        tuple(row) for block in small_data().train.blocks for row in block.ids[:, [0, *range(3, block.ids.shape[1])]]
    }
    assert len(graph.graph.relations) == len(facts) < len(graph.graph.edges) == len(small_data().train)


DAMAGES = {
    "an unknown entity": ("edges", 1, 1000),
    "an unknown composition": ("edges", 0, 1000),
    "a negative id": ("edges", 2, -1),
    "an unknown attribute": ("qualifiers", 1, 1000),
    "an unknown value": ("qualifiers", 2, 1000),
    "a qualifier of nothing": ("qualifiers", 0, 1000),
}


@pytest.mark.parametrize("damage", sorted(DAMAGES))
def test_a_graph_of_other_data_is_refused(damage: str, tmp_path: Path) -> None:
    saved(tmp_path / "model")
    path = tmp_path / "model" / "model.safetensors"
    weights, (name, column, wrong) = load_file(path), DAMAGES[damage]
    weights[f"encoder.graph.{name}"][0, column] = wrong
    save_file(weights, path)
    with pytest.raises(ModelFolderError, match="do not fit together"):
        loaded(tmp_path / "model")


def test_missing_relations_are_refused(tmp_path: Path) -> None:
    saved(tmp_path / "model")
    path = tmp_path / "model" / "model.safetensors"
    weights = load_file(path)
    save_file({**weights, "encoder.graph.relations": weights["encoder.graph.relations"][1:].clone()}, path)
    with pytest.raises(ModelFolderError, match="do not fit together"):
        loaded(tmp_path / "model")


def test_a_run_that_predicts_subjects_and_objects(tmp_path: Path) -> None:
    settings = {f"model__{key}": value for key, value in SMALL.items()}
    small_run(
        tmp_path / "run",
        "stare",
        model__predicts="subject-object",
        loss__name="bce",
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
