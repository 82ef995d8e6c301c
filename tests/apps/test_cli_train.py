"""``nary train``, ``evaluate``, ``predict`` and ``models``, as their users see them."""

import csv
import json
from pathlib import Path

import pytest
from apps.command import Nary
from runs.small import SMALL, options, small_data, small_run

from nary.data.dataset import Dataset
from nary.data.io.writer import write
from nary.data.load import load
from nary.facts import Fact, FactTable, Vocabulary
from nary.recipe import choose_recipe
from nary.reproduction.records import read_results
from nary.runs import RunFolder, load_model
from nary.wording import counted

MEASURES = {"mrr", "hits@1", "hits@3", "hits@5", "hits@10", "mr", "count"}


@pytest.fixture(scope="module")
def data() -> Dataset:
    return small_data()


@pytest.fixture(scope="module")
def facts(data: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("facts") / "toy.jsonl"
    write(data, path)
    return path


@pytest.fixture(scope="module")
def trained(data: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    import nary

    folder = tmp_path_factory.mktemp("trained") / "run"
    nary.train(data, out=folder, **{key.partition(".")[2]: value for key, value in SMALL.items()})
    return folder


@pytest.fixture
def query(data: Dataset) -> str:
    return f"{data.vocabulary.entities[0]} | {data.vocabulary.relations[-1]} | ?"


def test_train(nary: Nary, facts: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    outcome = nary("train", facts, "--out", folder, "--seed", 3, *options())
    assert outcome.code == 0, outcome.err
    assert f"Next: nary evaluate {folder}" in outcome.out
    assert "no recipe for this data: using gran/nobel, with sizes by the number of facts" in outcome.err
    assert "steps; more epochs or a smaller training.batch_size" in outcome.err
    assert (folder / "curves.png").read_bytes()[:4] == b"\x89PNG"
    assert "seed = 3\n" in (folder / "recipe.toml").read_text()


def test_train_for_some_minutes(nary: Nary, facts: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    settings = options()[2:]  # without the epochs
    settings = [part for part in zip(settings[::2], settings[1::2], strict=True) if "epochs" not in part[1]]
    outcome = nary("train", facts, "--out", folder, "--minutes", 0.005, *(word for pair in settings for word in pair))
    assert outcome.code == 0, outcome.err
    fitted = RunFolder(folder).recipe.training
    assert f"{counted(fitted.max_steps, 'step fits', 'steps fit')} into 0.005 minutes" in outcome.err
    assert f"{folder}: {counted(fitted.max_steps, 'step')} (" in outcome.out
    both = nary("train", facts, "--minutes", 1, "--set", "training.epochs=3", "--out", tmp_path / "both")
    assert (both.code, (tmp_path / "both").exists()) == (2, False)
    assert "training.epochs is given beside a number of minutes" in both.err
    assert nary("train", "--resume", folder, "--minutes", 1).code == 2
    assert "0.0 minutes of training" in nary("train", facts, "--minutes", 0, "--out", tmp_path / "none").err


def test_train_json(nary: Nary, facts: Path, tmp_path: Path) -> None:
    result = nary("train", facts, "--out", tmp_path / "run", "--json", *options()).json
    keys = {"run", "model", "dataset", "epochs", "steps", "seconds", "instances_per_second", "loss"}
    assert keys <= set(result)
    assert (result["run"], result["model"], result["dataset"]) == (str(tmp_path / "run"), "gran", "toy")
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["step"] == result["steps"] > 0
    assert result["loss"] > 0
    assert result["epochs"] == pytest.approx(4, abs=0.2)
    again = nary("train", "--resume", tmp_path / "run", "--json").json
    assert (again["steps"], again["loss"]) == (result["steps"], result["loss"])


def test_train_json_frequency(nary: Nary, facts: Path, tmp_path: Path) -> None:
    result = nary("train", facts, "--model", "frequency", "--out", tmp_path / "run", "--json").json
    assert (result["model"], result["steps"], result["loss"]) == ("frequency", 0, None)


def test_facts_without_splits_are_divided_with_a_notice(nary: Nary, data: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    write(Dataset("all", data.vocabulary, {"train": data.facts}), path)
    outcome = nary("train", path, "--model", "frequency", "--out", tmp_path / "run")
    assert outcome.code == 0
    assert "60 facts are split randomly (seed 0): train " in outcome.err
    splits = {path.stem for path in (tmp_path / "run" / "model" / "facts").iterdir()}
    assert splits == {"train", "valid", "test"}


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ([], "no DATA to train on", "nary train nobel"),
        (["nobl"], "no dataset is called 'nobl'", "nobel"),
        (["FACTS", "--set", "training.epoch=2"], "unknown key training.epoch", "training.epochs"),
        (["FACTS", "--set", "epochs=2"], "cannot read the setting 'epochs=2'", "table.key=value"),
        (["FACTS", "--set", "trainig.epochs=2"], "unknown table [trainig]", "training"),
        (["FACTS", "--model", "gram"], "unknown model 'gram'", "gran"),
        (["FACTS", "--recipe", "gran/nobl"], "no recipe 'gran/nobl'", "gran/nobel"),
        (["FACTS", "--seed", "-1"], "training.seed is -1", "greater than or equal to 0"),
        (["FACTS", "--device", "abacus"], "cannot compute on the device 'abacus'", "cpu"),
        (["FACTS", "--precision", "fp8"], "training.precision is 'fp8'", "bf16"),
        (["FACTS", "--resume", "RUN"], "--resume takes all settings from the run", "Leave DATA"),
        (["--resume", "RUN", "--seed", "1"], "--resume takes all settings from the run", "Leave DATA"),
        (["--resume", "RUN", "--device", "cpu"], "--resume takes all settings from the run", "Leave DATA"),
        (["--resume", "NONE"], "is not a run folder", "nary train"),
    ],
)
def test_train_mistakes(
    nary: Nary, facts: Path, trained: Path, tmp_path: Path, arguments: list[str], message: str, hint: str
) -> None:
    places = {"FACTS": facts, "RUN": trained, "NONE": tmp_path / "none"}
    out = [] if "--resume" in arguments else ["--out", tmp_path / "run"]
    outcome = nary("train", *(places.get(part, part) for part in arguments), *out, "--json")
    assert outcome.code == 2
    assert message in outcome.error["message"]
    assert hint in outcome.error["hint"]
    assert outcome.error["kind"] in {"setting", "dataset"}


def test_a_diverging_training_exits_with_1(nary: Nary, facts: Path, tmp_path: Path) -> None:
    outcome = nary("train", facts, "--out", tmp_path / "run", *options(training__learning_rate=1e30), "--json")
    assert outcome.code == 1
    assert outcome.error["kind"] == "training"


def test_evaluate(nary: Nary, trained: Path, data: Dataset) -> None:
    outcome = nary("evaluate", trained)
    assert outcome.code == 0
    assert outcome.out.startswith("generated, test\n")
    assert "Protocol: filter slots" in outcome.out
    report = nary("evaluate", trained, "--json").json
    assert {"dataset", "split", "protocol", "metrics"} <= set(report)
    assert {"entity", "subject/object", "relation", "primary", "entity[arity=2]"} <= set(report["metrics"])
    assert all(set(figures) >= MEASURES for figures in report["metrics"].values())
    assert report["metrics"]["primary"]["count"] == len(data.test)
    assert report["protocol"]["filter"] == "slots"
    assert nary("evaluate", trained / "model", "--json").json == report


def test_evaluate_under_another_protocol(nary: Nary, trained: Path) -> None:
    plain = nary("evaluate", trained, "--json", "--set", "evaluation.filter=none").json
    filtered = nary("evaluate", trained, "--json").json
    assert plain["protocol"]["filter"] == "none"
    assert plain["metrics"]["entity"]["mrr"] <= filtered["metrics"]["entity"]["mrr"]
    subject = nary("evaluate", trained, "--json", "--set", 'evaluation.positions=["subject"]').json
    assert {group.partition("[")[0] for group in subject["metrics"]} == {"entity", "subject/object"}


def test_evaluate_by_how_much_is_given(nary: Nary, trained: Path, data: Dataset, tmp_path: Path) -> None:
    text = nary("evaluate", trained, "--given", "curve")
    assert text.code == 0, text.err
    assert "MRR by number of qualifiers given" in text.out
    whole, path = nary("evaluate", trained, "--json").json["metrics"], tmp_path / "ranks.jsonl"
    curve = nary("evaluate", trained, "--given", "curve", "--ranks", path, "--json").json
    assert curve["protocol"]["given"] == "curve"
    assert curve["metrics"]["entity"] == whole["entity"]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    objects = [line for line in lines if line.get("given") == 0 and line["position"] == "object"]
    assert len(objects) == curve["metrics"]["object[given=0]"]["count"]
    one = nary("evaluate", trained, "--given", 1, "--json").json
    assert one["protocol"]["given"] == 1
    assert one["metrics"]["entity"]["count"] == whole["entity"]["count"]
    stored = [report.protocol.given for report in load_model(trained).reports if report.split == "test"]
    assert {"all", "curve", 1} <= set(stored)
    assert "evaluation.given" in nary("evaluate", trained, "--given", "some", "--json").error["message"]


def test_evaluate_broken_down(nary: Nary, trained: Path, data: Dataset) -> None:
    by_arity = nary("evaluate", trained, "--split", "train", "--by", "arity", "--json").json["metrics"]
    assert {"entity[arity=3]", "entity[arity=4]"} <= set(by_arity)
    by_relation = nary("evaluate", trained, "--by", "relation", "--json").json["metrics"]
    counts = [f["count"] for group, f in by_relation.items() if group.startswith("primary[relation=")]
    assert sum(counts) == len(data.test)
    relation = data.vocabulary.relations[int(data.test.blocks[0].ids[0, 0])]
    stored = load_model(trained).relation(relation).metrics["test"]
    assert stored["primary"] == by_relation[f"primary[relation={relation}]"]


def test_evaluate_as_csv_and_latex(nary: Nary, trained: Path) -> None:
    metrics = nary("evaluate", trained, "--json").json["metrics"]
    lines = nary("evaluate", trained, "--to", "csv").out.splitlines()
    assert all(lines)
    rows = list(csv.DictReader(line for line in lines if line[0] != "#"))
    assert [row["group"] for row in rows] == list(metrics)
    assert float(rows[0]["mrr"]) == metrics["entity"]["mrr"]
    latex = nary("evaluate", trained, "--to", "latex").out
    assert latex.startswith(r"\begin{tabular}")
    assert f"{metrics['entity']['mrr']:.3f}" in latex


def test_ranks_are_written_down(nary: Nary, trained: Path, data: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "ranks.jsonl"
    metrics = nary("evaluate", trained, "--ranks", path, "--json").json["metrics"]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert {"fact", "position", "answer", "rank", "optimistic", "pessimistic", "filtered"} <= set(lines[0])
    assert len(lines) == sum(metrics[group]["count"] for group in ("entity", "relation"))
    primary = [1 / line["rank"] for line in lines if line["position"] == "relation"]
    assert sum(primary) / len(primary) == pytest.approx(metrics["primary"]["mrr"])
    assert {line["fact"] for line in lines} == {str(fact) for fact in data.test.facts(data.vocabulary)}


def test_other_facts_with_unknown_names(nary: Nary, trained: Path, data: Dataset, tmp_path: Path) -> None:
    known = next(iter(data.train.facts(data.vocabulary)))
    strange = [Fact("Nobody", known.relation, known.object), Fact(known.subject, "ignores", "Noone")]
    path = tmp_path / "other.jsonl"
    names = Vocabulary.of((*data.vocabulary.entities, "Nobody", "Noone"), (*data.vocabulary.relations, "ignores"))
    write(Dataset("other", names, {"train": FactTable.from_facts([known, *strange], names)}), path)
    result = nary("evaluate", trained, path, "--json").json
    assert result["dataset"] == "other"
    assert result["metrics"]["primary"]["count"] == 1
    [note] = [note for note in result["notes"] if "left out" in note]
    assert note == "2 facts are left out: 3 of their names are unknown ('Nobody', 'Noone', 'ignores')"
    assert note in nary("evaluate", trained, path).out


def test_facts_of_which_nothing_is_known(nary: Nary, trained: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.tsv"
    path.write_text("Nobody\tignores\tNoone\n")
    outcome = nary("evaluate", trained, path, "--json")
    assert outcome.code == 2
    assert "every fact has an unknown name" in outcome.error["message"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--split", "tset"], "has no tset split"),
        (["--to", "html"], "--to html"),
        (["--by", "moon"], "--by moon"),
        (["--set", "training.epochs=3"], "training cannot be changed after training"),
        (["--set", "evaluation.filtr=none"], "unknown key evaluation.filtr"),
        (["--set", "evaluation.filter=some"], "evaluation.filter is 'some'"),
    ],
)
def test_evaluate_mistakes(nary: Nary, trained: Path, arguments: list[str], message: str) -> None:
    outcome = nary("evaluate", trained, *arguments, "--json")
    assert outcome.code == 2
    assert message in outcome.error["message"]
    assert outcome.error["hint"]


def test_predict(nary: Nary, trained: Path, query: str) -> None:
    result = nary("predict", trained, query, "-k", 3, "--json").json
    assert {"query", "position", "answers"} <= set(result)
    assert (result["query"], result["position"]) == (query, "object")
    assert len(result["answers"]) == 3
    assert {"name", "probability", "score", "known"} <= set(result["answers"][0])
    shown = nary("predict", trained, query, "-k", 3)
    assert shown.code == 0
    assert all(answer["name"] in shown.out for answer in result["answers"])


def test_predict_shows_what_is_known(nary: Nary, trained: Path, data: Dataset) -> None:
    fact = next(f for f in data.train.facts(data.vocabulary) if f.arity == 2)
    shown = nary("predict", trained, f"{fact.subject} | {fact.relation} | ?", "-k", 100)
    assert [line for line in shown.out.splitlines() if fact.object in line and f"train: {fact.subject}" in line]


def test_predict_with_the_frequency_model(nary: Nary, facts: Path, query: str, tmp_path: Path) -> None:
    assert nary("train", facts, "--model", "frequency", "--out", tmp_path / "run").code == 0
    result = nary("predict", tmp_path / "run", query, "-k", 1000, "--json").json
    assert sum(answer["probability"] for answer in result["answers"]) == pytest.approx(1, abs=1e-4)


def test_an_unknown_arity_is_a_note(nary: Nary, trained: Path, data: Dataset, query: str) -> None:
    long = query + "".join(f" | {data.vocabulary.relations[0]}: {name}" for name in data.vocabulary.entities[:5])
    outcome = nary("predict", trained, long)
    assert outcome.code == 0
    assert "note: no stored fact has arity 7" in outcome.err
    assert nary("predict", trained, long, "--json").json["notes"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("a | b | c", "'a | b | c' has no gap"),
        ("entity 00001 | relation 01 | ?", "unknown entity 'entity 00001'"),
        ("entity 000001 | relation 1 | ?", "unknown relation 'relation 1'"),
        ("entity 000001 | ?", ""),
        ("", ""),
    ],
)
def test_predict_mistakes(nary: Nary, trained: Path, query: str, message: str) -> None:
    outcome = nary("predict", trained, query, "--json")
    assert outcome.code == 2
    assert message in outcome.error["message"]
    if "unknown" in message:
        assert "Did you mean" in outcome.error["hint"]


@pytest.mark.parametrize("command", [["evaluate"], ["predict"]])
def test_what_is_no_run(nary: Nary, tmp_path: Path, command: list[str]) -> None:
    query = ["a | b | ?"] if command == ["predict"] else []
    outcome = nary(*command, tmp_path / "none", *query, "--json")
    assert outcome.code == 2
    assert outcome.error["kind"] == "model"
    assert "nary train" in outcome.error["hint"]


def test_models(nary: Nary) -> None:
    listed = nary("models", "--json").json
    assert {"gran", "frequency"} <= {model["name"] for model in listed}
    assert all({"name", "family", "positions", "source"} <= set(model) for model in listed)
    shown = nary("models")
    assert all(model["name"] in shown.out for model in listed)


def test_one_model(nary: Nary) -> None:
    result = nary("models", "gran", "--data", "nobel", "--json").json
    assert result["name"] == "gran"
    assert result["positions"] == ["attribute", "object", "relation", "subject", "value"]
    assert result["settings"] == choose_recipe("nobel").model_dump()["model"]
    names = load("nobel").vocabulary
    d, f, layers = (result["settings"][key] for key in ("hidden_dim", "ffn_dim", "num_layers"))
    nodes = len(names.entities) + len(names.relations)
    layer = 4 * (d * d + d) + (d * f + f) + (f * d + d) + 4 * d
    head = d * d + d + 2 * d
    roles, partial, edge_types = 5, 1, 5 + 25
    edges = 2 * edge_types * (d // 4)
    assert result["parameters"] == (1 + roles + partial + nodes) * d + nodes + 2 * d + layers * layer + edges + head
    assert nary("models", "frequency", "--data", "nobel", "--json").json["parameters"] == 0
    assert f"{result['parameters']:,}" in nary("models", "gran", "--data", "nobel").out


def test_an_unknown_model(nary: Nary) -> None:
    outcome = nary("models", "gram", "--json")
    assert outcome.code == 2
    assert "gran" in outcome.error["hint"]


@pytest.mark.benchmark_data
@pytest.mark.usefixtures("benchmark_data")
@pytest.mark.parametrize(
    ("dataset", "published"),
    [
        ("jf17k", 13_883_740),
        ("wikipeople-", 15_388_989),
        ("jf17k-3", 9_412_711),
        ("jf17k-4", 8_090_703),
        ("wikipeople-3", 9_575_392),
        ("wikipeople-4", 8_866_329),
    ],
)
def test_the_published_sizes(nary: Nary, dataset: str, published: int) -> None:
    """Without the rows of [PAD], of the unused edge type, and two biases: 386 parameters fewer."""
    assert nary("models", "gran", "--data", dataset, "--json").json["parameters"] == published - 386


def test_a_recorded_result_holds_what_is_needed_to_repeat_it_and_no_facts(
    nary: Nary, trained: Path, data: Dataset, tmp_path: Path
) -> None:
    report = nary("evaluate", trained, "--record", tmp_path, "--label", "tiny", "--by", "relation", "--json").json
    (path,) = tmp_path.glob("*/*.json")
    assert path.relative_to(tmp_path) == Path(data.name) / "gran-hete-tiny-seed0.json"
    (result,) = read_results(tmp_path)
    assert {group: result["metrics"][group] for group in ("entity", "relation")} == {
        group: report["metrics"][group] for group in ("entity", "relation")
    }
    assert result["recipe"]["data"]["name"] == result["dataset"] == data.name
    assert {"protocol", "seconds", "hardware", "versions", "trained_on", "split", "seed"} <= set(result)
    assert not any(name in path.read_text() for name in data.vocabulary.entities)


def test_a_record_is_not_replaced_by_one_of_another_protocol_or_recipe(
    nary: Nary, trained: Path, tmp_path: Path
) -> None:
    assert nary("evaluate", trained, "--record", tmp_path).code == 0
    (path,) = tmp_path.glob("*/*.json")
    before = path.read_bytes()
    outcome = nary("evaluate", trained, "--record", tmp_path, "--candidates", "seen", "--json")
    assert outcome.code == 2
    assert "holds a result with another protocol" in outcome.error["message"]
    assert "--label" in outcome.error["hint"]
    assert path.read_bytes() == before
    assert nary("evaluate", trained, "--record", tmp_path, "--candidates", "seen", "--label", "seen").code == 0
    assert len(list(tmp_path.glob("*/*.json"))) == 2
    deeper = tmp_path / "other"
    small_run(deeper, model__num_layers=2)
    outcome = nary("evaluate", deeper, "--record", tmp_path, "--json")
    assert outcome.code == 2
    assert "holds a result with other settings" in outcome.error["message"]
    assert nary("evaluate", trained, "--record", tmp_path, "--label", "a/b").code == 2
    path.write_text("{")
    outcome = nary("evaluate", trained, "--record", tmp_path, "--json")
    assert outcome.code == 2
    assert "exists and is not a result record" in outcome.error["message"]


def test_other_facts_are_not_recorded_as_results_of_a_run(
    nary: Nary, trained: Path, facts: Path, tmp_path: Path
) -> None:
    outcome = nary("evaluate", trained, facts, "--record", tmp_path, "--json")
    assert outcome.code == 2
    assert "--record" in outcome.error["message"]
    assert not list(tmp_path.iterdir())


def test_results_that_are_none_are_refused(nary: Nary, tmp_path: Path) -> None:
    assert nary("results", tmp_path, "--json").code == 2
    (tmp_path / "published.toml").write_text("")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "x.json").write_text("{}")
    outcome = nary("results", tmp_path, "--json")
    assert outcome.code == 2
    assert outcome.error["file"].endswith("x.json")


def test_a_training_is_tracked(nary: Nary, facts: Path, tmp_path: Path) -> None:
    tracked = ("--track", "csv", "--track", f"json={tmp_path / 'all.jsonl'}")
    outcome = nary("train", facts, "--model", "gran", "--out", tmp_path / "run", *options(), *tracked)
    assert outcome.code == 0, outcome.err
    assert (tmp_path / "run" / "tracking.csv").read_text().startswith("run,step,name,value\n")
    assert "train/loss" in (tmp_path / "all.jsonl").read_text()
    assert nary("verify", tmp_path / "run").code == 0
    refused = nary("train", facts, "--track", "csvs", "--json")
    assert (refused.code, refused.error["message"]) == (2, "unknown tracker 'csvs'")


def test_seeds_are_trained_compared_and_extended(nary: Nary, facts: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    outcome = nary("train", facts, "--model", "gran", "--out", runs, "--seeds", "0,1", *options())
    assert outcome.code == 0, outcome.err
    assert "mean ± standard deviation of 2 seeds" in outcome.out
    compared = nary("compare", runs / "seed0", runs / "seed1", "--significance")
    assert "Recipes, mean ± standard deviation over runs" in compared.out
    extended = nary("train", "--resume", runs / "seed1", "--epochs", 5, "--json")
    assert extended.json["epochs"] == pytest.approx(5, abs=0.2)
    assert nary("verify", runs / "seed1").code == 0
    refused = nary("train", facts, "--seeds", "0,x", "--json")
    assert (refused.code, refused.error["message"]) == (2, "cannot read --seeds 0,x")
    assert nary("train", facts, "--seeds", "0,1", "--seed", "2").code == 2
