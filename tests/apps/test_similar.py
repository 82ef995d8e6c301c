"""``nary similar``."""

from pathlib import Path

import pytest
from apps.command import Nary
from runs.small import small_data, small_run

from nary.runs import TrainedModel


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    return small_run(tmp_path_factory.mktemp("trained") / "run", dataset=small_data(100), training__epochs=1)


def test_similar(nary: Nary, run: TrainedModel) -> None:
    name = run.dataset.vocabulary.entities[0]
    found = nary("similar", run.folder, name.upper(), "-k", 3, "--json").json
    assert found == run.similar(name, k=3).as_dict()
    assert (found["name"], found["kind"], len(found["neighbors"])) == (name, "entity", 3)
    shown = nary("similar", run.folder, name, "-k", 3).out
    assert all(one["label"] in shown for one in found["neighbors"])


def test_relations(nary: Nary, run: TrainedModel) -> None:
    name = run.dataset.vocabulary.relations[0]
    assert nary("similar", run.folder, name, "--json").json["kind"] == "relation"
    assert nary("similar", run.folder, name, "--kind", "entity", "--json").code == 2


def test_mistakes(nary: Nary, run: TrainedModel, tmp_path: Path) -> None:
    found = nary("similar", run.folder, "entity 00001", "--json")
    assert found.code == 2
    assert "Did you mean" in found.error["hint"]
    small_run(tmp_path / "run", model="frequency", dataset=small_data(100))
    found = nary("similar", tmp_path / "run", run.dataset.vocabulary.entities[0], "--json")
    assert found.code == 2
    assert "frequency has no vectors" in found.error["message"]
