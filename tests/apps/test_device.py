"""``--device``: every command that computes takes it and refuses what is no device."""

from pathlib import Path

import pytest
from apps.command import Nary
from apps.server.running import serving

from nary.runs import TrainedModel

COMMANDS = {
    "evaluate": ["RUN"],
    "predict": ["RUN", "QUERY"],
    "score": ["RUN", "FACT"],
    "suggest": ["RUN", "FACT"],
    "explain": ["RUN", "FACT"],
    "similar": ["RUN", "NAME"],
}


def arguments(command: str, model: TrainedModel, run_folder: Path) -> list[object]:
    fact = next(model.dataset.test.facts(model.dataset.vocabulary))
    query = f"{fact.subject} | {fact.relation} | ?"
    values = {"RUN": run_folder, "FACT": fact, "QUERY": query, "NAME": fact.subject}
    return [command, *(values[name] for name in COMMANDS.get(command, ["RUN"]))]


@pytest.mark.parametrize("command", COMMANDS)
def test_cpu(nary: Nary, model: TrainedModel, run_folder: Path, command: str) -> None:
    outcome = nary(*arguments(command, model, run_folder), "--device", "cpu")
    assert outcome.code == 0, outcome.err
    assert outcome.out


def test_serve_on_cpu(run_folder: Path) -> None:
    with serving(run_folder, "--device", "cpu") as served:
        assert served.get("/api/model").status_code == 200


@pytest.mark.parametrize("device", ["nonsense", "meta", "hpu"])
@pytest.mark.parametrize("command", [*COMMANDS, "serve"])
def test_an_unknown_device(nary: Nary, model: TrainedModel, run_folder: Path, command: str, device: str) -> None:
    outcome = nary(*arguments(command, model, run_folder), "--device", device)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"cannot compute on the device '{device}'" in outcome.err
    assert "Traceback" not in outcome.err


def test_train_on_an_unknown_device_leaves_no_folder(nary: Nary, tmp_path: Path) -> None:
    outcome = nary("train", "nobel", "--device", "nonsense", "--out", tmp_path / "run")
    assert outcome.code == 2
    assert "cannot compute on the device 'nonsense'" in outcome.err
    assert "Traceback" not in outcome.err
    assert list(tmp_path.iterdir()) == []
