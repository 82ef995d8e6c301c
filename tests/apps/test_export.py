"""``nary export`` and what ``nary evaluate`` keeps, as their users see them."""

from pathlib import Path

import numpy as np
import orjson
import pytest
from apps.command import Nary
from runs.small import small_run


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "run"
    small_run(folder, training__epochs=1)
    return folder


def test_vectors(nary: Nary, trained: Path, tmp_path: Path) -> None:
    out = tmp_path / "vectors.npy"
    outcome = nary("export", trained, out)
    assert outcome.code == 0, outcome.err
    assert f"{out}: vectors, 20 entities and 6 relations" in outcome.out
    assert np.load(out).shape == (26, 16)
    assert f"{out}.names.tsv" in outcome.out


def test_json(nary: Nary, trained: Path, tmp_path: Path) -> None:
    out = tmp_path / "vectors.tsv"
    assert nary("export", trained / "model", out, "--json").json == {
        "out": str(out),
        "names": f"{out}.names.tsv",
        "format": "tsv",
        "arity": None,
        "entities": 20,
        "relations": 6,
    }
    assert nary("export", trained, tmp_path / "v.parquet", "--json").json["names"] is None


def test_a_program(nary: Nary, trained: Path, tmp_path: Path) -> None:
    outcome = nary("export", trained, tmp_path / "scores", "--format", "torch")
    assert outcome.code == 0, outcome.err
    assert "scores for facts of arity 2," in outcome.out  # the most frequent one
    assert outcome.err == ""


@pytest.mark.parametrize(
    ("arguments", "kind", "message", "hint"),
    [
        (["RUN", "v"], "setting", "the extension of v is not a known format", "--format tsv|parquet|npy|torch|onnx"),
        (["RUN", "v.npy", "--format", "onx"], "setting", "unknown format 'onx'", "onnx"),
        (["RUN", "v.onnx", "--arity", "7"], "setting", "no facts of arity 7", "2, 3, 4"),
        (["RUN", "v.tsv", "--arity", "3"], "setting", "--arity does not apply to tsv", "torch and onnx"),
        (["RUN", "there.npy"], "output", "exists already", "another OUT"),
        (["NONE", "v.npy"], "model", "no model or run folder", "nary train"),
    ],
)
def test_mistakes(
    nary: Nary, trained: Path, tmp_path: Path, arguments: list[str], kind: str, message: str, hint: str
) -> None:
    (tmp_path / "there.npy").write_text("mine")
    run, out, *options = arguments
    outcome = nary("export", trained if run == "RUN" else tmp_path / "none", tmp_path / out, *options, "--json")
    assert outcome.code == 2
    assert outcome.error["kind"] == kind
    assert message in outcome.error["message"]
    assert hint in outcome.error["hint"]
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


def test_evaluate_keeps_metrics_of_the_runs_own_splits(nary: Nary, tmp_path: Path) -> None:
    small_run(tmp_path / "run", "frequency")
    kept = tmp_path / "run" / "model" / "metrics.json"
    test = nary("evaluate", tmp_path / "run", "--json").json
    valid = nary("evaluate", tmp_path / "run" / "model", "--split", "valid", "--by", "arity", "--json").json
    first, second = orjson.loads(kept.read_bytes())
    assert first == test
    assert second["metrics"].items() <= valid["metrics"].items()
    assert "Metrics on test by missing element" in (kept.parent / "README.md").read_text()
    assert nary("evaluate", tmp_path / "run", "--json").json == test
    assert [report["split"] for report in orjson.loads(kept.read_bytes())] == ["valid", "test"]


def test_evaluate_keeps_nothing_of_other_facts(nary: Nary, tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", "frequency")
    fact = next(iter(run.dataset.test.facts(run.dataset.vocabulary)))
    (tmp_path / "other.tsv").write_text(f"{fact.subject}\t{fact.relation}\t{fact.object}\n")
    assert nary("evaluate", tmp_path / "run", tmp_path / "other.tsv").code == 0
    assert orjson.loads((tmp_path / "run" / "model" / "metrics.json").read_bytes()) == []


def test_evaluate_goes_on_where_nothing_can_be_kept(nary: Nary, tmp_path: Path) -> None:
    small_run(tmp_path / "run", "frequency")
    card = tmp_path / "run" / "model" / "README.md"
    card.unlink()
    card.mkdir()
    (card / "something").touch()
    outcome = nary("evaluate", tmp_path / "run")
    assert outcome.code == 0
    assert "note: the report was not fully stored in the model folder: cannot write" in outcome.err
    assert "generated, test" in outcome.out
