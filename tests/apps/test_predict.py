"""``nary predict``: several gaps, known answers, and a file of queries, also when it is killed."""

import json
import signal
from pathlib import Path

import polars as pl
import pytest
from apps.command import Nary
from runs.small import finish, start, stop, wait_until

from nary.runs import TrainedModel


def _queries(model: TrainedModel) -> list[str]:
    facts = model.dataset.facts.facts(model.dataset.vocabulary)
    return [str(fact.query(position)) for fact in facts for position in fact.elements()]


def test_known_answers(nary: Nary, model: TrainedModel, run_folder: Path) -> None:
    query = _queries(model)[0]
    answers = {
        known: nary("predict", run_folder, query, "-k", 1000, "--known", known, "--json").json["answers"]
        for known in ("mark", "hide", "only")
    }
    assert all(answer["known"] for answer in answers["only"])
    assert not any(answer["known"] for answer in answers["hide"])
    assert len(answers["mark"]) == len(answers["hide"]) + len(answers["only"])
    assert nary("predict", run_folder, query, "--known", "some").code == 2


def test_several_gaps(nary: Nary, model: TrainedModel, run_folder: Path) -> None:
    query = f"? | {model.dataset.vocabulary.relations[-1]} | ?"
    result = nary("predict", run_folder, query, "-k", 3, "--json").json
    assert (result["query"], result["positions"], result["experimental"]) == (query, ["subject", "object"], True)
    shown = nary("predict", run_folder, query, "-k", 3)
    assert "experimental" in shown.err
    for answer in result["answers"]:
        assert all(element["label"] in shown.out for element in answer["elements"])


def test_a_file_of_queries(nary: Nary, model: TrainedModel, run_folder: Path, tmp_path: Path) -> None:
    queries = _queries(model)[:300]
    (tmp_path / "in.txt").write_text("\n".join(queries))
    options = ("--facts", tmp_path / "in.txt", "--out", tmp_path / "out.jsonl", "-k", 2)
    result = nary("predict", run_folder, *options, "--json").json
    assert result == {"out": str(tmp_path / "out.jsonl"), "lines": 300, "before": 0, "errors": 0}
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [line["query"] for line in lines] == [prediction.query for prediction in model.predict_many(queries)]
    assert all(len(line["answers"]) == 2 for line in lines)
    again = nary("predict", run_folder, *options)
    assert again.out.replace("\n", "") == f"{tmp_path / 'out.jsonl'} is complete: 300 lines."


def test_a_table_of_answers(nary: Nary, model: TrainedModel, run_folder: Path, tmp_path: Path) -> None:
    queries, out = tmp_path / "queries.txt", tmp_path / "answers.csv"
    asked = _queries(model)[:9]
    queries.write_text("\n".join(["", *asked]))
    outcome = nary("predict", run_folder, "--facts", queries, "--out", out, "-k", 3, "--json")
    assert outcome.json == {"out": str(out), "lines": 9, "before": 0, "errors": 0}
    table = pl.read_csv(out)
    for number, query in enumerate(asked, 2):  # the first line is blank
        answers = model.predict(query, k=3).answers
        assert table.filter(pl.col("line") == number)["answer"].to_list() == [answer.name for answer in answers]
    queries.write_text("? | r | ?\n")
    refused = nary("predict", run_folder, "--facts", queries, "--out", tmp_path / "other.csv", "--json")
    assert refused.code == 2
    assert not (tmp_path / "other.csv").exists()


def test_a_bad_line(nary: Nary, model: TrainedModel, run_folder: Path, tmp_path: Path) -> None:
    query = _queries(model)[0]
    (tmp_path / "in.txt").write_text(f"{query}\nnobody | {model.dataset.vocabulary.relations[0]} | ?\n{query}\n")
    options = ("--facts", tmp_path / "in.txt", "--out", tmp_path / "out.jsonl")
    stopped = nary("predict", run_folder, *options, "--json")
    assert stopped.code == 2
    assert (stopped.error["file"], stopped.error["line"]) == (str(tmp_path / "in.txt"), 2)
    assert (tmp_path / "out.jsonl").read_text().count("\n") == 1
    skipped = nary("predict", run_folder, *options, "--on-error", "skip")
    assert skipped.code == 0
    assert "3 lines, 1 of them already there" in skipped.out
    assert "note: 1 line is no query" in skipped.err
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert lines[1]["line"] == 2
    assert "nobody" in lines[1]["error"]["message"]


def test_answers_to_other_queries_are_kept(nary: Nary, model: TrainedModel, run_folder: Path, tmp_path: Path) -> None:
    queries = _queries(model)
    for name, chosen in (("one", queries[:3]), ("two", queries[3:9])):
        (tmp_path / name).write_text("\n".join(chosen))
    out = tmp_path / "out.jsonl"
    assert nary("predict", run_folder, "--facts", tmp_path / "one", "--out", out).code == 0
    before = out.read_bytes()
    outcome = nary("predict", run_folder, "--facts", tmp_path / "two", "--out", out, "--json")
    assert (outcome.code, outcome.error["kind"]) == (2, "output")
    assert out.read_bytes() == before


@pytest.mark.parametrize("options", [[], ["--facts", "x"], ["--out", "x"], ["a | b | ?", "--facts", "x", "--out", "y"]])
def test_what_is_asked_must_be_clear(nary: Nary, run_folder: Path, options: list[str]) -> None:
    outcome = nary("predict", run_folder, *options, "--json")
    assert outcome.code == 2
    assert "either a QUERY, or --facts FILE and --out FILE" in outcome.error["message"]


@pytest.mark.parametrize("name", ["answers.xlsx", "answers.csv.gz"])
def test_a_name_of_another_kind_of_file(nary: Nary, run_folder: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "queries.txt").write_text("a | b | ?")
    outcome = nary("predict", run_folder, "--facts", tmp_path / "queries.txt", "--out", tmp_path / name, "--json")
    assert outcome.error["message"] == f"cannot write a table to {name!r}"
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("with_signal", [signal.SIGKILL, signal.SIGINT])
def test_a_process_that_is_ended_goes_on_where_it_was(
    model: TrainedModel, run_folder: Path, tmp_path: Path, with_signal: signal.Signals
) -> None:
    queries = _queries(model) * 10
    (tmp_path / "in.txt").write_text("\n".join(queries))
    command = ("predict", run_folder, "--facts", tmp_path / "in.txt", "-k", 3, "--out")
    out = tmp_path / "out.jsonl"
    process = start(*command, out)
    wait_until(lambda: out.exists() and out.stat().st_size > 0, process)
    code, said = stop(process, with_signal)
    lines = out.read_bytes().count(b"\n")
    assert 0 < lines < len(queries), said
    assert code == (130 if with_signal is signal.SIGINT else -signal.SIGKILL)
    assert "Traceback" not in said
    said = finish(*command, out)
    assert f"{len(queries):,} lines, {lines:,} of them already there" in said.replace("\n", " ")
    answers = [json.loads(line) for line in out.read_text().splitlines()]
    expected = [prediction.query for prediction in model.predict_many(_queries(model))]
    assert [one["query"] for one in answers] == expected * 10


def test_a_number_with_its_interval(nary: Nary, tmp_path: Path) -> None:
    lines = [f'{{"subject": "P{i}", "relation": "earns", "object": {100 + i % 3}}}' for i in range(12)]
    (tmp_path / "pay.jsonl").write_text("\n".join(lines))
    trained = nary("train", tmp_path / "pay.jsonl", "--model", "rules", "--out", tmp_path / "run")
    assert trained.code == 0, trained.err
    value = nary("predict", tmp_path / "run", "P1 | earns | ?", "--json").json["value"]
    assert (value["low"], value["high"]) == ("100^^number", "102^^number")
    shown = nary("predict", tmp_path / "run", "P1 | earns | ?").out
    assert f"value: {value['label']}" in shown
    assert "object of earns" in nary("evaluate", tmp_path / "run", "--split", "train").out
