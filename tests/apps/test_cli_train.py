"""``nary train``, ``evaluate``, ``predict`` and ``models``, as their users see them."""

import csv
import json
from pathlib import Path

import pytest
from apps.command import Nary
from runs.small import SMALL, options, small_data, small_run

from nary.data.dataset import Dataset
from nary.data.load import load
from nary.data.writing import write
from nary.facts import Fact, FactTable, Vocabulary
from nary.recipe import choose
from nary.reproduction.records import read_results

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
    found = nary("train", facts, "--out", folder, "--seed", 3, *options())
    assert found.code == 0, found.err
    assert f"Next: nary evaluate {folder}" in found.out
    assert "no recipe for this data: that of gran/nobel" in found.err
    assert "steps; more epochs or a smaller training.batch_size" in found.err
    assert (folder / "curves.png").read_bytes()[:4] == b"\x89PNG"
    assert "seed = 3\n" in (folder / "recipe.toml").read_text()


def test_train_json(nary: Nary, facts: Path, tmp_path: Path) -> None:
    found = nary("train", facts, "--out", tmp_path / "run", "--json", *options()).json
    keys = {"run", "model", "dataset", "epochs", "steps", "seconds", "instances_per_second", "loss"}
    assert keys <= set(found)
    assert (found["run"], found["model"], found["dataset"]) == (str(tmp_path / "run"), "gran", "toy")
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["step"] == found["steps"] > 0
    assert found["loss"] > 0
    assert found["epochs"] == pytest.approx(4, abs=0.2)
    again = nary("train", "--resume", tmp_path / "run", "--json").json
    assert (again["steps"], again["loss"]) == (found["steps"], found["loss"])


def test_train_json_frequency(nary: Nary, facts: Path, tmp_path: Path) -> None:
    found = nary("train", facts, "--model", "frequency", "--out", tmp_path / "run", "--json").json
    assert (found["model"], found["steps"], found["loss"]) == ("frequency", 0, None)


def test_facts_without_splits_are_divided_with_a_notice(nary: Nary, data: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    write(Dataset("all", data.vocabulary, {"train": data.facts}), path)
    found = nary("train", path, "--model", "frequency", "--out", tmp_path / "run")
    assert found.code == 0
    assert "60 facts are divided by chance (seed 0): train " in found.err
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
        (["FACTS", "--device", "abacus"], "training.device is 'abacus'", "cpu"),
        (["FACTS", "--precision", "fp8"], "training.precision is 'fp8'", "bf16"),
        (["FACTS", "--resume", "RUN"], "--resume takes everything", "Leave DATA"),
        (["--resume", "RUN", "--seed", "1"], "--resume takes everything", "Leave DATA"),
        (["--resume", "RUN", "--device", "cpu"], "--resume takes everything", "Leave DATA"),
        (["--resume", "NONE"], "is no run folder", "nary train"),
    ],
)
def test_train_mistakes(
    nary: Nary, facts: Path, trained: Path, tmp_path: Path, arguments: list[str], message: str, hint: str
) -> None:
    places = {"FACTS": facts, "RUN": trained, "NONE": tmp_path / "none"}
    out = [] if "--resume" in arguments else ["--out", tmp_path / "run"]
    found = nary("train", *(places.get(part, part) for part in arguments), *out, "--json")
    assert found.code == 2
    assert message in found.error["message"]
    assert hint in found.error["hint"]
    assert found.error["kind"] in {"setting", "dataset"}


def test_a_diverging_training_exits_with_1(nary: Nary, facts: Path, tmp_path: Path) -> None:
    found = nary("train", facts, "--out", tmp_path / "run", *options(training__learning_rate=1e30), "--json")
    assert found.code == 1
    assert found.error["kind"] == "training"


def test_evaluate(nary: Nary, trained: Path, data: Dataset) -> None:
    found = nary("evaluate", trained)
    assert found.code == 0
    assert found.out.startswith("generated, test\n")
    assert "Protocol: filter slots" in found.out
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


def test_evaluate_broken_down(nary: Nary, trained: Path, data: Dataset) -> None:
    by_arity = nary("evaluate", trained, "--split", "train", "--by", "arity", "--json").json["metrics"]
    assert {"entity[arity=3]", "entity[arity=4]"} <= set(by_arity)
    by_relation = nary("evaluate", trained, "--by", "relation", "--json").json["metrics"]
    counts = [f["count"] for group, f in by_relation.items() if group.startswith("primary[relation=")]
    assert sum(counts) == len(data.test)


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
    found = nary("evaluate", trained, path, "--json").json
    assert found["dataset"] == "other"
    assert found["metrics"]["primary"]["count"] == 1
    [note] = [note for note in found["notes"] if "left out" in note]
    assert note == "2 facts are left out: the model never saw 3 of their names ('Nobody', 'Noone', 'ignores')"
    assert note in nary("evaluate", trained, path).out


def test_facts_of_which_nothing_is_known(nary: Nary, trained: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.tsv"
    path.write_text("Nobody\tignores\tNoone\n")
    found = nary("evaluate", trained, path, "--json")
    assert found.code == 2
    assert "every fact has a name the model never saw" in found.error["message"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--split", "tset"], "has no tset split"),
        (["--to", "html"], "--to html"),
        (["--by", "moon"], "--by moon"),
        (["--set", "training.epochs=3"], "training cannot be changed after the training"),
        (["--set", "evaluation.filtr=none"], "unknown key evaluation.filtr"),
        (["--set", "evaluation.filter=some"], "evaluation.filter is 'some'"),
    ],
)
def test_evaluate_mistakes(nary: Nary, trained: Path, arguments: list[str], message: str) -> None:
    found = nary("evaluate", trained, *arguments, "--json")
    assert found.code == 2
    assert message in found.error["message"]
    assert found.error["hint"]


def test_predict(nary: Nary, trained: Path, query: str) -> None:
    found = nary("predict", trained, query, "-k", 3, "--json").json
    assert {"query", "position", "answers"} <= set(found)
    assert (found["query"], found["position"]) == (query, "object")
    assert len(found["answers"]) == 3
    assert {"name", "probability", "score", "known"} <= set(found["answers"][0])
    shown = nary("predict", trained, query, "-k", 3)
    assert shown.code == 0
    assert all(answer["name"] in shown.out for answer in found["answers"])


def test_predict_shows_what_is_known(nary: Nary, trained: Path, data: Dataset) -> None:
    fact = next(f for f in data.train.facts(data.vocabulary) if f.arity == 2)
    shown = nary("predict", trained, f"{fact.subject} | {fact.relation} | ?", "-k", 100)
    assert [line for line in shown.out.splitlines() if fact.object in line and line.endswith("known")]


def test_predict_with_the_frequency_model(nary: Nary, facts: Path, query: str, tmp_path: Path) -> None:
    assert nary("train", facts, "--model", "frequency", "--out", tmp_path / "run").code == 0
    found = nary("predict", tmp_path / "run", query, "-k", 1000, "--json").json
    assert sum(answer["probability"] for answer in found["answers"]) == pytest.approx(1, abs=1e-4)


def test_an_unknown_arity_is_a_note(nary: Nary, trained: Path, data: Dataset, query: str) -> None:
    long = query + "".join(f" | {data.vocabulary.relations[0]}: {name}" for name in data.vocabulary.entities[:5])
    found = nary("predict", trained, long)
    assert found.code == 0
    assert "note: the model has never seen a fact of arity 7" in found.err
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
    found = nary("predict", trained, query, "--json")
    assert found.code == 2
    assert message in found.error["message"]
    if "unknown" in message:
        assert "Did you mean" in found.error["hint"]


@pytest.mark.parametrize("command", [["evaluate"], ["predict"]])
def test_what_is_no_run(nary: Nary, tmp_path: Path, command: list[str]) -> None:
    query = ["a | b | ?"] if command == ["predict"] else []
    found = nary(*command, tmp_path / "none", *query, "--json")
    assert found.code == 2
    assert found.error["kind"] == "model"
    assert "nary train" in found.error["hint"]


def test_models(nary: Nary) -> None:
    listed = nary("models", "--json").json
    assert {"gran", "frequency"} <= {model["name"] for model in listed}
    assert all({"name", "family", "positions", "source"} <= set(model) for model in listed)
    shown = nary("models")
    assert all(model["name"] in shown.out for model in listed)


def test_one_model(nary: Nary) -> None:
    found = nary("models", "gran", "--data", "nobel", "--json").json
    assert found["name"] == "gran"
    assert found["positions"] == ["attribute", "object", "relation", "subject", "value"]
    assert found["settings"] == choose("nobel").model_dump()["model"]
    names = load("nobel").vocabulary
    d, f, layers = (found["settings"][key] for key in ("hidden_dim", "ffn_dim", "num_layers"))
    nodes = len(names.entities) + len(names.relations)
    layer = 4 * (d * d + d) + (d * f + f) + (f * d + d) + 4 * d
    head = d * d + d + 2 * d
    assert found["parameters"] == (1 + nodes) * d + nodes + 2 * d + layers * layer + 2 * 4 * (d // 4) + head
    assert nary("models", "frequency", "--data", "nobel", "--json").json["parameters"] == 0
    assert f"{found['parameters']:,}" in nary("models", "gran", "--data", "nobel").out


def test_an_unknown_model(nary: Nary) -> None:
    found = nary("models", "gram", "--json")
    assert found.code == 2
    assert "gran" in found.error["hint"]


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
    found = nary("evaluate", trained, "--record", tmp_path, "--label", "tiny", "--by", "relation", "--json").json
    (path,) = tmp_path.glob("*/*.json")
    assert path.relative_to(tmp_path) == Path(data.name) / "gran-hete-tiny-seed0.json"
    (result,) = read_results(tmp_path)
    assert {group: result["metrics"][group] for group in ("entity", "relation")} == {
        group: found["metrics"][group] for group in ("entity", "relation")
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
    found = nary("evaluate", trained, "--record", tmp_path, "--candidates", "seen", "--json")
    assert found.code == 2
    assert "holds a result with another protocol" in found.error["message"]
    assert "--label" in found.error["hint"]
    assert path.read_bytes() == before
    assert nary("evaluate", trained, "--record", tmp_path, "--candidates", "seen", "--label", "seen").code == 0
    assert len(list(tmp_path.glob("*/*.json"))) == 2
    deeper = tmp_path / "other"
    small_run(deeper, model__num_layers=2)
    found = nary("evaluate", deeper, "--record", tmp_path, "--json")
    assert found.code == 2
    assert "holds a result with other settings" in found.error["message"]
    assert nary("evaluate", trained, "--record", tmp_path, "--label", "a/b").code == 2
    path.write_text("{")
    found = nary("evaluate", trained, "--record", tmp_path, "--json")
    assert found.code == 2
    assert "exists and is not a result record" in found.error["message"]


def test_other_facts_are_not_recorded_as_results_of_a_run(
    nary: Nary, trained: Path, facts: Path, tmp_path: Path
) -> None:
    found = nary("evaluate", trained, facts, "--record", tmp_path, "--json")
    assert found.code == 2
    assert "--record" in found.error["message"]
    assert not list(tmp_path.iterdir())


def test_results_that_are_none_are_refused(nary: Nary, tmp_path: Path) -> None:
    assert nary("results", tmp_path, "--json").code == 2
    (tmp_path / "published.toml").write_text("")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "x.json").write_text("{}")
    found = nary("results", tmp_path, "--json")
    assert found.code == 2
    assert found.error["file"].endswith("x.json")
