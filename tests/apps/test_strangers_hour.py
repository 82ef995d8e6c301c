"""A stranger's first hour after the installation, but for the notebooks, which have tests of their own."""

import json
import signal
from importlib.util import find_spec
from pathlib import Path
from urllib.request import Request, urlopen

import polars as pl
import pytest
from apps.command import Nary
from runs.small import start, stop

from nary.data.company import generate_property_graph

MODELS = {"gran": ("model.hidden_dim=16", "model.num_layers=1", "model.num_heads=2"), "ram": (), "m-distmult": ()}


@pytest.mark.slow
def test_a_strangers_hour(nary: Nary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    tracker = "mlflow=company" if find_spec("mlflow") else "csv=all.csv"

    def done(*arguments: object) -> str:
        outcome = nary(*arguments)
        assert outcome.code == 0, outcome.err
        return outcome.out

    # A CSV file of one's own becomes data.
    company = generate_property_graph(edges=400, error_fraction=0.02)
    company.edges.write_csv("edges.csv")
    done("import", "edges.csv", "--out", "company")

    # Three models over three seeds, in a tracker, and which of them is better.
    for model, settings in MODELS.items():
        options = [part for each in (*settings, "training.batch_size=128") for part in ("--set", each)]
        where = ("--seeds", "0,1,2", "--out", f"runs/{model}", "--track", tracker)
        assert "± " in done("train", "company", "--model", model, "--epochs", 1, *options, *where)
    runs = [f"runs/{model}/seed{seed}" for model in MODELS for seed in (0, 1, 2)]
    comparison = json.loads(done("compare", *runs, "--significance", "--json"))
    assert [len(group["runs"]) for group in comparison["recipes"]] == [3, 3, 3]
    assert all("significant" in group["difference"] for group in comparison["recipes"][1:])
    if tracker.startswith("mlflow"):
        from mlflow import MlflowClient

        client = MlflowClient()
        assert len(client.search_runs([client.get_experiment_by_name("company").experiment_id])) == 9

    # What looks wrong, as a table that joins with the file.
    done("score", "runs/gran/seed0", "company", "--out", "scores.csv")
    scores = pl.read_csv("scores.csv", infer_schema=False)
    joined = company.edges.select("start", "end", "type").unique().join(scores, ["start", "end", "type"])
    assert joined.height >= company.edges.select("start", "end", "type").n_unique()

    # A service.
    server = start("serve", "runs/gran/seed0", "--port", "0", "--json")
    try:
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())["address"]
        first = company.edges.row(0, named=True)
        body = json.dumps({"fact": f"{first['start']} | {first['type']} | ?", "k": 3}).encode()
        with urlopen(Request(f"{address}api/predict", body, {"Content-Type": "application/json"})) as response:
            assert len(json.load(response)["answers"]) == 3
    finally:
        code, _ = stop(server, signal.SIGTERM)
    assert code == 0
