"""``nary compare``, on small real runs."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from apps.command import Nary
from runs.small import small_data, small_run

from nary.data.dataset import Dataset
from nary.reproduction.records import record_result
from nary.runs import RunFolder, load_model


def evaluated_run(folder: Path, model: str, dataset: Dataset, **changed: Any) -> None:
    trained = small_run(folder, model, dataset, **changed)
    trained.add_report(trained.evaluate("test"), folder / "model")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three evaluated runs on the same data: gran, frequency, and gran without qualifiers."""
    folder = tmp_path_factory.mktemp("runs")
    data = small_data()
    for name, model, changed in (
        ("gran", "gran", {}),
        ("floor", "frequency", {}),
        ("triples", "gran", {"data__qualifiers": False}),
    ):
        evaluated_run(folder / name, model, data, **changed)
    small_run(folder / "fresh", "frequency", data)
    return folder


def mrr(folder: Path, name: str, report: int = 0) -> float:
    return float(load_model(folder / name).reports[report].metrics["entity"]["mrr"])


def test_a_table_of_two_runs(nary: Nary, folder: Path) -> None:
    outcome = nary("compare", folder / "gran", folder / "floor")
    assert outcome.code == 0
    better, worse = sorted(("gran", "floor"), key=lambda name: -mrr(folder, name))
    lines = outcome.out.splitlines()
    titles = ["MRR", "Hits@1", "Hits@10", "MRR", "s/o", "MRR", "value", "MRR", "relation"]
    assert lines[0].split() == ["run", "model", "recipe", "data", "seed", *titles, "parameters", "epochs", "seconds"]
    places = [next(i for i, line in enumerate(lines) if line.startswith(f"{name} ")) for name in (better, worse)]
    assert places == sorted(places)
    assert f"{mrr(folder, better):.3f}*" in lines[places[0]]
    assert f"{mrr(folder, worse):.3f} " in lines[places[1]]
    assert len({line.index(".", lines[0].index("MRR")) for line in lines[1:3]}) == 1  # figures stand below each other
    assert lines[-1] == "Protocol: filter slots (train, valid, test); ties mean; candidates all; positions all."
    assert outcome.err == ""


def test_how_long_each_took_to_an_mrr(nary: Nary, folder: Path, tmp_path: Path) -> None:
    evaluated_run(tmp_path / "validated", "gran", small_data(), training__eval_every=1)
    records = [json.loads(line) for line in (tmp_path / "validated" / "metrics.jsonl").read_text().splitlines()]
    validations = [record for record in records if "valid_mrr" in record]
    best = max(record["valid_mrr"] for record in validations)
    when = next(record["seconds"] for record in validations if record["valid_mrr"] == best)
    both = (tmp_path / "validated", folder / "floor")
    reached, unknown = nary("compare", *both, "--reach", best, "--json").json["runs"]
    if reached["model"] == "frequency":
        reached, unknown = unknown, reached
    assert (reached[f"seconds to {best:g}"], unknown[f"seconds to {best:g}"]) == (when, None)
    table = nary("compare", *both, "--reach", 1.01).out.splitlines()
    assert table[0].endswith("seconds to 1.01")
    assert [line.split()[-1] for line in table[1:3]] == ["–", "–"]
    assert any(line.startswith("No validations, so no time to an MRR: ") and "floor." in line for line in table)


def test_everything_as_json(nary: Nary, folder: Path) -> None:
    outcome = nary("compare", folder / "gran", folder / "floor", "--json").json
    runs = {run["run"]: run for run in outcome["runs"]}
    gran, floor = runs["gran"], runs["floor"]
    assert (gran["model"], gran["data"], gran["seed"]) == ("gran-hete", "generated", 0)
    assert gran["epochs"] == pytest.approx(4, abs=0.2)
    assert gran["parameters"] == sum(p.numel() for p in load_model(folder / "gran").module.parameters())
    assert gran["seconds"] > 0
    assert (floor["parameters"], floor["seconds"], floor["recipe"]) == (
        0,
        0.0,
        "defaults, epochs=4, batch_size=32, learning_rate=0.01",
    )
    assert gran["metrics"]["entity"]["mrr"] == mrr(folder, "gran")
    best = max(runs, key=lambda name: mrr(folder, name))
    assert outcome["best"]["mrr entity"] == [best]
    assert outcome["warnings"] == []


def test_a_column_that_one_run_has_not(nary: Nary, folder: Path) -> None:
    outcome = nary("compare", folder / "triples", folder / "gran", "--out", folder / "table.md")
    assert outcome.code == 0
    row = next(line for line in (folder / "table.md").read_text().splitlines() if "triples only" in line)
    assert "| – |" in row  # the MRR of values
    first, second = sorted(("triples", "gran"), key=lambda name: -mrr(folder, name))
    data = {"triples": "generated, triples only (triples)", "gran": "generated (gran)"}
    assert f"note: Different data: {data[first]}; {data[second]}." in outcome.err
    queries = [line for line in outcome.err.splitlines() if line.startswith("note: Different queries")]
    assert len(queries) == 2  # entity and relation; subjects and objects are as many
    assert "subject/object" not in "".join(queries)


def test_csv(nary: Nary, folder: Path, tmp_path: Path) -> None:
    assert nary("compare", folder / "gran", folder / "floor", "--out", tmp_path / "table.csv").code == 0
    lines = (tmp_path / "table.csv").read_text().splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert [float(row["mrr entity"]) for row in rows] == sorted(
        (mrr(folder, n) for n in ("gran", "floor")), reverse=True
    )
    assert {row["model"] for row in rows} == {"gran-hete", "frequency"}
    assert float(rows[0]["hits@3 value"]) >= 0
    assert lines[-1].startswith("# Protocol:")


def test_json_latex_and_markdown_files(nary: Nary, folder: Path, tmp_path: Path) -> None:
    paths = [tmp_path / f"table.{kind}" for kind in ("json", "tex", "md")]
    for path in paths:
        assert nary("compare", folder / "gran", folder / "floor", "--out", path).code == 0
    best = f"{max(mrr(folder, 'gran'), mrr(folder, 'floor')):.3f}"
    assert len(json.loads(paths[0].read_text())["runs"]) == 2
    latex, markdown = paths[1].read_text(), paths[2].read_text()
    assert rf"\textbf{{{best}}}" in latex
    assert latex.count(r" \\") == 3
    assert f"| **{best}** |" in markdown
    assert all(line.count(" | ") == markdown.splitlines()[0].count(" | ") for line in markdown.splitlines()[:4])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["table.json", "table.md", "table.tex"]


def test_by_how_much_is_given(nary: Nary, folder: Path, tmp_path: Path) -> None:
    runs = [folder / "gran", folder / "floor"]
    curve = ("--set", "evaluation.given=curve")
    assert "has not been evaluated on test with this protocol" in nary("compare", *runs, *curve).err
    for run in runs:
        assert nary("evaluate", run, "--given", "curve").code == 0
    path = tmp_path / "curve.svg"
    outcome = nary("compare", *runs, *curve, "--out", path)
    assert outcome.code == 0, outcome.err
    assert "object 0 given" in outcome.out
    assert "also with fewer qualifiers given" in outcome.out
    assert "<!-- qualifiers given -->" in path.read_text()
    metrics = load_model(runs[0]).reports[-1].metrics
    line = next(line for line in outcome.out.splitlines() if line.startswith("gran "))
    assert all(f"{metrics[f'object[given={level}]']['mrr']:.3f}" in line for level in (0, 1, 2, "all"))
    records = [record_of(run, tmp_path / "results", -1) for run in runs]
    assert nary("compare", *records, *curve, "--out", path).code == 0
    assert all(f"<!-- {name} -->" in path.read_text() for name in ("gran-hete", "frequency"))  # without the seed
    mixed = nary("compare", record_of(runs[0], tmp_path / "a", 0), record_of(runs[1], tmp_path / "b", -1))
    assert "Different protocols, given: " in mixed.err


def record_of(run: Path, folder: Path, report: int) -> Path:
    model = load_model(run)
    return record_result(RunFolder(run), model, model.reports[report], folder)


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_plot(nary: Nary, folder: Path, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"plot.{kind}"
    assert nary("compare", folder / "gran", folder / "floor", "--out", path).code == 0
    content = path.read_bytes()
    if kind == "png":
        assert content.startswith(b"\x89PNG\r\n")
    else:
        assert "<!-- gran -->" in content.decode()
        assert "training time (seconds)" in content.decode()


def test_recorded_results_and_metrics_files(nary: Nary, folder: Path, tmp_path: Path) -> None:
    model = load_model(folder / "gran")
    path = record_result(RunFolder(folder / "gran"), model, model.reports[0], tmp_path)
    outcome = nary(
        "compare", path, folder / "gran" / "model" / "metrics.json", folder / "floor" / "model", "--json"
    ).json
    assert outcome["warnings"] == []
    runs = {run["path"]: run for run in outcome["runs"]}
    recorded, model_folder = runs[str(path)], runs[str(folder / "gran" / "model")]
    assert recorded["metrics"] == model_folder["metrics"]
    assert recorded["recipe"] == model_folder["recipe"]
    assert recorded["seconds"] == pytest.approx(load_seconds(folder / "gran"), abs=0.1)
    assert model_folder["seconds"] is None  # a model folder does not tell


def load_seconds(folder: Path) -> float:
    return float(json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])["seconds"])


def test_a_run_without_a_report_says_what_to_do(nary: Nary, folder: Path) -> None:
    outcome = nary("compare", folder / "gran", folder / "fresh", "--json")
    assert outcome.code == 2
    assert outcome.error["message"] == f"{folder / 'fresh'} has not been evaluated on test"
    assert outcome.error["hint"] == f"Run: nary evaluate {folder / 'fresh'} --split test"
    outcome = nary("compare", folder / "gran", "--set", "evaluation.candidates=seen", "--json")
    assert outcome.error["message"] == f"{folder / 'gran'} has not been evaluated on test with this protocol"
    assert outcome.error["hint"].endswith("--split test --set evaluation.candidates=seen")
    assert "has no context split" in nary("compare", folder / "gran", "--split", "context", "--json").error["message"]


def test_reports_by_another_protocol(nary: Nary, tmp_path: Path) -> None:
    for name in ("one", "two"):
        small_run(tmp_path / name, "frequency")
        assert nary("evaluate", tmp_path / name, "--candidates", "seen").code == 0
    assert nary("evaluate", tmp_path / "one").code == 0
    outcome = nary("compare", tmp_path / "one", tmp_path / "two", "--set", "evaluation.candidates=seen", "--json").json
    assert [run["protocol"]["candidates"] for run in outcome["runs"]] == ["seen", "seen"]
    assert outcome["best"]["mrr entity"] == ["one", "two"]  # they are equal
    model = load_model(tmp_path / "two")
    path = record_result(RunFolder(tmp_path / "two"), model, model.reports[0], tmp_path / "results")
    warning = nary("compare", tmp_path / "one", path, "--json").json["warnings"]
    values = {"one": "all (one)", "two": "seen (results/generated/frequency-seed0.json)"}
    first, second = ("one", "two") if mrr(tmp_path, "one", -1) >= mrr(tmp_path, "two") else ("two", "one")
    assert warning == [f"Different protocols, candidates: {values[first]}; {values[second]}."]


def test_other_facts_under_the_same_name_and_other_splits_learned_from(
    nary: Nary, folder: Path, tmp_path: Path
) -> None:
    evaluated_run(tmp_path / "run", "frequency", small_data(80), data__train_on=["train", "valid"])
    warnings = nary("compare", folder / "floor", tmp_path / "run", "--json").json["warnings"]
    assert warnings[0].startswith("Different facts under the same name, by fingerprint: ")
    assert any(line.startswith("Trained on different splits: ") and "train, valid" in line for line in warnings)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "no model or run folder"),
        (["{folder}/gran", "--out", "table.xls"], "cannot write table.xls: unknown file extension"),
        (["{folder}/gran", "--set", "training.epochs=3"], "training cannot be changed after training"),
        (["{folder}/gran/recipe.toml"], "not a result record"),
        ([], "Missing argument"),
    ],
)
def test_mistakes(nary: Nary, folder: Path, arguments: list[str], message: str) -> None:
    outcome = nary("compare", *(one.format(folder=folder) for one in arguments), "--json")
    assert outcome.code == 2
    assert message in outcome.error["message"]


def test_a_result_of_another_split_or_of_a_damaged_file(nary: Nary, folder: Path, tmp_path: Path) -> None:
    model = load_model(folder / "floor")
    path = record_result(RunFolder(folder / "floor"), model, model.evaluate("valid"), tmp_path)
    assert nary("compare", path, "--json").error["message"] == f"{path} is a result on valid, not test"
    content: dict[str, Any] = json.loads(path.read_text())
    del content["recipe"]
    path.write_text(json.dumps(content))
    assert nary("compare", path, "--json").error["message"] == "not a result record: 'recipe'"


def test_nothing_is_written_if_a_run_cannot_be_compared(nary: Nary, folder: Path, tmp_path: Path) -> None:
    assert nary("compare", folder / "gran", folder / "fresh", "--out", tmp_path / "table.md").code == 2
    assert list(tmp_path.iterdir()) == []
