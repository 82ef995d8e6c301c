"""``nary score``: the least plausible facts first, for people and for machines."""

import json
from pathlib import Path

import polars as pl
import pytest
from apps.command import Nary

from nary.data.io.writer import write
from nary.facts.json import parse_line
from nary.runs import TrainedModel, load_model


@pytest.fixture(scope="module")
def facts(model: TrainedModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("facts") / "facts.jsonl"
    write(model.dataset, path)
    return path


def test_json_lines_in_the_order_of_the_facts(nary: Nary, model: TrainedModel, run_folder: Path, facts: Path) -> None:
    outcome = nary("score", run_folder, facts, "--split", "test", "--json")
    assert outcome.code == 0, outcome.err
    lines = [json.loads(line) for line in outcome.out.splitlines()]
    assert [line["fact"] for line in lines] == [str(f) for f in model.dataset.test.facts(model.dataset.vocabulary)]
    written = facts.read_text().splitlines()
    for line in lines:
        assert line.pop("file") == str(facts)
        assert str(parse_line(written[line.pop("line") - 1])) == line["fact"]
    assert lines == [json.loads(json.dumps(one.as_dict())) for one in model.predictor.score_table(model.dataset.test)]
    everything = nary("score", run_folder, facts, "--json").out.splitlines()
    assert len(everything) == len(model.dataset.facts)


def test_the_worst(nary: Nary, model: TrainedModel, run_folder: Path, facts: Path) -> None:
    outcome = nary("score", run_folder, facts, "--worst", 3, "--json")
    least_plausible = [json.loads(line) for line in outcome.out.splitlines()]
    every = sorted(one.plausibility for one in model.predictor.score_table(model.dataset.facts))
    assert [one["plausibility"] for one in least_plausible] == pytest.approx(every[:3])
    shown = nary("score", run_folder, facts, "--worst", 3).out
    assert f"The 3 least plausible of {len(model.dataset.facts)} facts" in shown
    assert shown.count("\n") == 5  # a title, a header and three facts
    for one in least_plausible:
        assert one["fact"] in shown
        assert f"{one['elements'][0]['position']}: {one['elements'][0]['name']}" in shown
    assert nary("score", run_folder, facts).out.count("\n") == 12


def test_a_table_of_all_scores(nary: Nary, model: TrainedModel, run_folder: Path, facts: Path, tmp_path: Path) -> None:
    outcome = nary("score", run_folder, facts, "--split", "test", "--out", tmp_path / "scores.parquet")
    assert outcome.code == 0, outcome.err
    table = pl.read_parquet(tmp_path / "scores.parquet")
    test = list(model.dataset.test.facts(model.dataset.vocabulary))
    assert table.select("subject", "relation", "object").rows() == [fact.primary for fact in test]
    assert table["plausibility"].to_list() == [
        one.plausibility for one in model.predictor.score_table(model.dataset.test)
    ]


def test_what_was_expected_there_is_the_best_answer(nary: Nary, model: TrainedModel, run_folder: Path) -> None:
    fact = next(model.dataset.test.facts(model.dataset.vocabulary))
    (scored,) = model.score([fact])
    odd = scored.elements[0]
    position = next(position for position in fact.elements() if str(position) == odd.position)
    best = model.predict_many([fact.query(position)], k=1, known="mark")[0].answers[0]
    shown = nary("score", run_folder, str(fact).upper()).out  # as a fact on the command line, in any case
    assert str(fact) in shown
    assert ("itself" if best.name == odd.name else f"{best.label} ({best.probability:.1%})") in shown


def test_facts_with_unknown_names_have_their_reason(
    nary: Nary, model: TrainedModel, run_folder: Path, tmp_path: Path
) -> None:
    fact = next(model.dataset.test.facts(model.dataset.vocabulary))
    path, out = tmp_path / "facts.tsv", tmp_path / "scores.csv"
    lines = [f"Nobody\t{fact.relation}\t{fact.object}", "", "\t".join(fact.primary)]
    path.write_text("\n".join(lines))
    outcome = nary("score", run_folder, path, "--json", "--out", out)
    assert outcome.code == 0, outcome.err
    unknown, known = [json.loads(line) for line in outcome.out.splitlines()]
    assert (unknown["line"], unknown["error"]["message"]) == (1, "unknown entity 'Nobody'")
    assert (known["line"], known["file"]) == (3, str(path))
    assert "1 fact has no score: unknown entity 'Nobody'" in outcome.err
    table = pl.read_csv(out)
    assert table["line"].to_list() == [1, 3]
    assert table["error"].to_list() == ["unknown entity 'Nobody'", None]
    assert table["plausibility"].to_list() == [None, known["plausibility"]]
    assert json.loads((tmp_path / "scores.csv.meta.json").read_text())["model"] == load_model(run_folder).fingerprint
    assert f"{path}:3" in nary("score", run_folder, path).out
    path.write_text(lines[0])
    refused = nary("score", run_folder, path, "--json")
    assert refused.code == 2
    assert refused.error["message"] == "every fact has an unknown name, such as entity 'Nobody'"


def test_facts_of_a_folder_stand_in_several_files(
    nary: Nary, model: TrainedModel, run_folder: Path, tmp_path: Path
) -> None:
    write(model.dataset, tmp_path / "data")
    lines = [json.loads(line) for line in nary("score", run_folder, tmp_path / "data", "--json").out.splitlines()]
    assert len(lines) == len(model.dataset)
    for line in lines:
        written = Path(line["file"]).read_text().splitlines()
        assert str(parse_line(written[line["line"] - 1])) == line["fact"]
    assert len({line["file"] for line in lines}) == 3


def test_a_fact_may_be_longer_than_the_name_of_a_file(nary: Nary, model: TrainedModel, run_folder: Path) -> None:
    fact = next(model.dataset.test.facts(model.dataset.vocabulary))
    long = " | ".join([f"{fact.subject} | {fact.relation} | {fact.object}", *40 * [f"{fact.relation}: {fact.object}"]])
    assert len(long) > 255
    assert nary("score", run_folder, long, "--json").code == 0


def test_mistakes(nary: Nary, model: TrainedModel, run_folder: Path, facts: Path) -> None:
    names = model.dataset.vocabulary
    for arguments, message in (
        ([f"Nobody | {names.relations[0]} | {names.entities[0]}"], "unknown entity 'Nobody'"),
        ([f"{names.entities[0]} | {names.relations[0]} | ?"], "has a gap"),
        (["nothing-like-it"], "no dataset is called"),
        ([facts, "--worst", "0"], "--worst 0"),
        ([facts, "--split", "context"], "no context split"),
    ):
        outcome = nary("score", run_folder, *arguments, "--json")
        assert outcome.code == 2
        assert message in outcome.error["message"]


def test_the_name_of_a_table_is_checked_first(nary: Nary, run_folder: Path, tmp_path: Path) -> None:
    outcome = nary("score", run_folder, tmp_path / "none.jsonl", "--out", tmp_path / "scores.xlsx", "--json")
    assert outcome.error["message"] == "cannot write a table to 'scores.xlsx'"
