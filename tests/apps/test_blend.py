"""``nary blend`` as people use it."""

from pathlib import Path

import pytest
from apps.command import Nary
from runs.small import small_data, small_run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("parts")
    for name in ("rules", "gran"):
        small_run(folder / name, name, small_data(200))
    return [folder / "rules", folder / "gran"]


def test_a_table_of_what_each_part_is_worth(nary: Nary, runs: list[Path], tmp_path: Path) -> None:
    shown = nary("blend", *runs, "--out", tmp_path / "run")
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert lines[0] == "MRR on the valid facts"
    assert lines[1].split() == ["part", "entity", "subject", "object", "value", "relation", "seconds"]
    assert [line.split()[0] for line in lines[2:5]] == [*map(str, runs), "blend"]
    mrr = [float(line.split()[1]) for line in lines[2:5]]
    assert mrr[2] >= max(mrr[:2])
    assert lines[-1] == f"Next: nary evaluate {tmp_path / 'run'}"
    compared = nary("compare", "--split", "test", tmp_path / "run")
    assert compared.code == 2
    assert nary("evaluate", tmp_path / "run").code == 0
    assert "blend" in nary("compare", "--split", "test", tmp_path / "run").out


def test_as_json(nary: Nary, runs: list[Path], tmp_path: Path) -> None:
    result = nary("blend", *runs, "--out", tmp_path / "run", "--json").json
    assert [part["name"] for part in result["parts"]] == [*map(str, runs), "blend"]
    assert result["model"] == "blend"
    assert result["parts"][-1]["mrr"]["entity"] > 0


def test_training_a_recipe_of_parts(nary: Nary, tmp_path: Path) -> None:
    shown = nary(
        "train", "nobel", "--model", "blend", "--set", 'model.parts=["rules","frequency"]', "--out", tmp_path / "r"
    )
    assert shown.code == 0
    assert [line.split()[0] for line in shown.out.splitlines()[2:5]] == ["rules", "frequency", "blend"]


def test_mistakes(nary: Nary, runs: list[Path], tmp_path: Path) -> None:
    alone = nary("blend", runs[0], "--out", tmp_path / "run")
    assert (alone.code, alone.out) == (2, "")
    assert "1 run to blend" in alone.err
    assert "no model or run folder" in nary("blend", tmp_path / "none", runs[0], "--out", tmp_path / "run").err
    assert not (tmp_path / "run").exists()
    (tmp_path / "taken").write_text("")
    assert "exists" in nary("blend", *runs, "--out", tmp_path / "taken").err
