"""The commands for one's own data: stats, check, split, generate."""

import json
from pathlib import Path

import pytest
from apps.command import Nary

FACTS = [
    "Ada\twrote\tNotes\tyear\t1843\tabout\tEngine",
    "Babbage\tbuilt\tEngine",
    "Ada\tknows\tBabbage",
    "Babbage\tknows\tAda",
    "Babbage\tknows\tAda",
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "facts.tsv"
    path.write_text("\n".join(FACTS) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    path.mkdir()
    (path / "train.tsv").write_text("\n".join(FACTS), encoding="utf-8")
    (path / "test.tsv").write_text("Ada\twrote\tNotes\nAda\tknows\tBoole\n", encoding="utf-8")
    return path


def test_stats_json(nary: Nary, file: Path) -> None:
    outcome = nary("stats", file, "--json")
    assert outcome.code == 0
    assert outcome.json["facts"] == {"train": 5}
    assert (outcome.json["entities"], outcome.json["relations"], outcome.json["higher_arity"]) == (5, 5, 1)
    assert outcome.json["arities"] == {"2": 4, "4": 1}
    assert outcome.json["top_relations"] == [["knows", 3], ["built", 1], ["wrote", 1]]
    assert outcome.err == ""


def test_stats_for_people_and_a_picture(nary: Nary, file: Path, tmp_path: Path) -> None:
    outcome = nary("stats", file, "--plot", tmp_path / "facts.svg")
    assert outcome.code == 0
    assert "knows" in outcome.out
    assert "entities" in outcome.out
    assert (tmp_path / "facts.svg").read_text(encoding="utf-8").startswith("<?xml")
    refused = nary("stats", file, "--plot", tmp_path / "facts.doc", "--json")
    assert refused.code == 2
    assert json.loads(refused.err)["error"]["kind"] == "output"


def test_check_json(nary: Nary, folder: Path) -> None:
    outcome = nary("check", folder, "--json")
    assert outcome.code == 0
    assert outcome.json["duplicates"] == {"train": 1, "test": 0}
    assert (outcome.json["test_in_train"], outcome.json["test_primary_in_train"]) == (0, 1)
    assert outcome.json["test_unseen"] == 1
    assert outcome.json["clean"] is False


def test_check_for_people_gives_a_verdict(nary: Nary, folder: Path, file: Path) -> None:
    outcome = nary("check", folder)
    assert outcome.code == 0
    assert "test: the primary triple is in train" in outcome.out
    assert "50.0%" in outcome.out
    assert "Not clean: duplicates; valid or test facts" in outcome.out
    file.write_text("Ada\tknows\t NULL\nAda\tknows\tnull\n", encoding="utf-8")
    alone = nary("check", file)
    assert "only one split" in alone.out
    assert "looks like a missing value" in alone.out
    assert "Not clean: suspicious labels." in alone.out


def test_check_strict_fails_for_what_is_not_clean(nary: Nary, folder: Path, file: Path) -> None:
    assert nary("check", folder, "--strict").code == 1
    file.write_text("\n".join(FACTS[:4]), encoding="utf-8")
    clean = nary("check", file, "--strict")
    assert clean.code == 0
    assert "Clean: no duplicates" in clean.out


def test_notes_about_the_data_go_to_standard_error(nary: Nary, file: Path) -> None:
    file.write_text("\n".join([*FACTS, "only two\tparts"]), encoding="utf-8")
    assert nary("check", file).code == 2
    skipped = nary("check", file, "--on-error", "skip", "--json")
    assert skipped.code == 0
    assert "note: " in skipped.err
    assert skipped.json["duplicates"] == {"train": 1}


def test_check_lists_suspicious_facts(nary: Nary, file: Path) -> None:
    shown = nary("check", file, "--suspicious", 2, "--folds", 2)
    assert "Suspicious facts" in shown.out
    suspects = nary("check", file, "--suspicious", 2, "--folds", 2, "--json").json["suspicious"]
    assert len(suspects) == 2
    assert all(suspect["label"] in shown.out and len(suspect["elements"]) == 2 for suspect in suspects)
    assert "suspicious" not in nary("check", file, "--json").json
    for options in (("--suspicious", 0), ("--suspicious", 2, "--folds", 1)):
        assert nary("check", file, *options, "--json").error["message"]


def test_split_then_check(nary: Nary, tmp_path: Path) -> None:
    assert nary("generate", tmp_path / "facts.jsonl", "--facts", "600", "--entities", "30").code == 0
    outcome = nary("split", tmp_path / "facts.jsonl", "--out", tmp_path / "parts", "--separate-primary", "--json")
    assert outcome.code == 0
    assert outcome.json["facts"] == {"train": 480, "valid": 60, "test": 60}
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == ["test.jsonl", "train.jsonl", "valid.jsonl"]
    assert nary("check", tmp_path / "parts", "--strict").code == 0
    # The splits are pooled and, with another seed, divided differently.
    again = nary("split", tmp_path / "parts", "--out", tmp_path / "again", "--test", "0.2", "--seed", "1", "--json")
    assert again.json["facts"] == {"train": 420, "valid": 60, "test": 120}
    assert "split randomly (seed 1)" in again.err


def test_split_for_people(nary: Nary, file: Path, tmp_path: Path) -> None:
    outcome = nary("split", file, "--out", tmp_path / "parts")
    assert outcome.code == 0
    assert "train" in outcome.out
    assert "requested for valid and test" in outcome.err


def test_split_never_writes_over_anything(nary: Nary, file: Path, folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    refused = nary("split", file, "--out", folder)
    assert refused.code == 2
    assert "not an empty folder" in refused.err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_split_refuses_impossible_shares(nary: Nary, file: Path, tmp_path: Path) -> None:
    refused = nary("split", file, "--out", tmp_path / "parts", "--valid", "0.6", "--test", "0.5", "--json")
    assert refused.code == 2
    assert json.loads(refused.err)["error"]["kind"] == "setting"
    assert not (tmp_path / "parts").exists()


def test_generate_writes_equal_files(nary: Nary, tmp_path: Path) -> None:
    settings = ["--facts", "100", "--entities", "20", "--relations", "5", "--max-arity", "4", "--seed", "3"]
    first = nary("generate", tmp_path / "a.jsonl", *settings, "--json")
    assert first.code == 0
    assert first.json["facts"] == {"train": 100}
    assert sorted(first.json["arities"]) == ["2", "3", "4"]
    nary("generate", tmp_path / "b.jsonl", *settings)
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert nary("stats", tmp_path / "a.jsonl", "--json").json["arities"] == first.json["arities"]


def test_generate_refuses_impossible_settings(nary: Nary, tmp_path: Path) -> None:
    refused = nary("generate", tmp_path / "a.jsonl", "--facts", "10", "--entities", "1")
    assert refused.code == 2
    assert "number of entities is 1" in refused.err
    assert not (tmp_path / "a.jsonl").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--property-graph", "--facts", "0"], "the number of edges is 0"),
        (["--property-graph", "--entities", "50"], "--entities does not go with --property-graph"),
        (["--facts", "50", "--entities", "10", "--neo4j"], "--neo4j goes with --property-graph only"),
    ],
)
def test_generate_refuses_options_it_would_ignore(nary: Nary, tmp_path: Path, options: list[str], message: str) -> None:
    refused = nary("generate", tmp_path / "graph", *options, "--json")
    assert (refused.code, refused.error["message"]) == (2, message)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["stats", "check", "split", "generate"])
def test_help_has_an_example(nary: Nary, command: str) -> None:
    outcome = nary(command, "--help")
    assert outcome.code == 0
    assert f"Example: nary {command}" in outcome.out


def test_generate_a_property_graph(nary: Nary, tmp_path: Path) -> None:
    outcome = nary("generate", tmp_path / "company", "--property-graph", "--facts", "400", "--errors", "0.02", "--json")
    assert (outcome.json["edges"], outcome.json["errors"]) == (400, 8)
    assert sum(outcome.json["types"].values()) == 400
    assert (tmp_path / "company" / "edges.csv").read_text().startswith("id,start,end,type,date,role,")
    assert "WORKS_AT" in nary("generate", tmp_path / "again", "--property-graph", "--facts", "400", "--neo4j").out
    assert "Give --facts N" in nary("generate", tmp_path / "x.jsonl", "--json").error["hint"]
