"""``nary train`` without a model."""

from pathlib import Path

from apps.command import Nary
from runs.small import small_data

from nary.data.io.writer import write
from nary.runs import load_model


def test_nary_train_without_a_model(nary: Nary, tmp_path: Path) -> None:
    write(small_data(150), tmp_path / "mine")
    shown = nary("train", tmp_path / "mine", "--minutes", 0.05, "--out", tmp_path / "run")
    assert shown.code == 0
    assert "a blend of rules, gran and m-distmult is trained within 0.05 minutes" in shown.err
    lines = shown.out.splitlines()
    assert lines[0] == "MRR on the valid facts"
    mrr = {line.split()[0]: float(line.split()[1]) for line in lines[2:6]}
    assert list(mrr) == ["rules", "gran", "m-distmult", "blend"]
    assert mrr["blend"] == max(mrr.values())
    assert load_model(tmp_path / "run").name == "blend"
    assert nary("predict", tmp_path / "run", "entity 000001 | relation 01 | ?", "--json").code == 0
