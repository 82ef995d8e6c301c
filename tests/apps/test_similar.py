"""``nary similar``."""

from pathlib import Path

from apps.command import Nary
from runs.small import small_data, small_run

from nary.runs import TrainedModel


def test_similar(nary: Nary, model: TrainedModel, run_folder: Path) -> None:
    name = model.dataset.vocabulary.entities[0]
    result = nary("similar", run_folder, name.upper(), "-k", 3, "--json").json
    assert result == model.similar(name, k=3).as_dict()
    assert (result["name"], result["kind"], len(result["neighbors"])) == (name, "entity", 3)
    shown = nary("similar", run_folder, name, "-k", 3).out
    assert all(one["label"] in shown for one in result["neighbors"])


def test_relations(nary: Nary, model: TrainedModel, run_folder: Path) -> None:
    name = model.dataset.vocabulary.relations[0]
    assert nary("similar", run_folder, name, "--json").json["kind"] == "relation"
    assert nary("similar", run_folder, name, "--kind", "entity", "--json").code == 2


def test_mistakes(nary: Nary, model: TrainedModel, run_folder: Path, tmp_path: Path) -> None:
    outcome = nary("similar", run_folder, "entity 00001", "--json")
    assert outcome.code == 2
    assert "Did you mean" in outcome.error["hint"]
    small_run(tmp_path / "run", model="frequency", dataset=small_data(100))
    outcome = nary("similar", tmp_path / "run", model.dataset.vocabulary.entities[0], "--json")
    assert outcome.code == 2
    assert "frequency has no embeddings" in outcome.error["message"]
