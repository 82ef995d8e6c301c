"""``nary update`` as people use it."""

import json
from pathlib import Path

from apps.command import Nary

from nary import write
from nary.data.dataset import Dataset
from nary.facts import Fact
from nary.runs import TrainedModel, load_model


def test_facts_from_a_file(nary: Nary, run_folder: Path, model: TrainedModel, tmp_path: Path) -> None:
    relation, entity = model.vocabulary.relations[0], model.vocabulary.entities[0]
    stored = next(model.dataset.train.facts(model.vocabulary))
    facts = [Fact("Ada", relation, entity), Fact("Ada", relation, "Bob", [("since", entity)]), stored]
    write(Dataset.from_facts("new", {"train": facts}), tmp_path / "new.jsonl")
    before = {path: path.read_bytes() for path in run_folder.rglob("*") if path.is_file()}
    shown = nary("update", run_folder, tmp_path / "new.jsonl", "--out", tmp_path / "model")
    assert shown.code == 0, shown.err
    first, entities, relations, learned, following = shown.out.splitlines()
    assert first == "2 facts added to train (1 was stored already, or given twice)."
    assert entities == "2 new entities: 'Ada', 'Bob'"
    assert relations == "1 new relation: 'since'"
    assert learned.startswith("Learned in 35 steps, ")
    assert following == f"Next: nary predict {tmp_path / 'model'} QUERY, or nary evaluate {tmp_path / 'model'}"
    assert {path: path.read_bytes() for path in run_folder.rglob("*") if path.is_file()} == before
    assert nary("facts", tmp_path / "model", f"Ada | {relation} | ?", "--json").json["total"] == 2
    assert nary("predict", tmp_path / "model", f"Ada | {relation} | ?", "--json").json["answers"][0]["known"]
    assert nary("verify", tmp_path / "model").code == 0
    assert nary("evaluate", tmp_path / "model").code == 0


def test_one_fact_and_json(nary: Nary, run_folder: Path, model: TrainedModel, tmp_path: Path) -> None:
    fact = f"Ada | {model.vocabulary.relations[0]} | {model.vocabulary.entities[0]}"
    done = nary("update", run_folder, fact, "--out", tmp_path / "model", "--json").json
    counts = {key: done[key] for key in ("facts", "entities", "relations", "stored", "notes")}
    assert counts == {"facts": 1, "entities": 1, "relations": 0, "stored": 0, "notes": []}
    again = nary("update", tmp_path / "model", fact, "--out", tmp_path / "again", "--json").json
    assert (again["facts"], again["stored"], again["steps"]) == (0, 1, 0)
    assert len(load_model(tmp_path / "again").updates) == 1


def test_mistakes(nary: Nary, run_folder: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "file").write_text("")
    refused = nary("update", run_folder, "a | b | c", "--out", taken)
    assert "exists and is not an empty folder\nChoose another --out.\n" in refused.err
    for facts, said in (("a | b", "subject"), (tmp_path / "none.jsonl", "none.jsonl")):
        failed = nary("update", run_folder, facts, "--out", tmp_path / "model")
        assert (failed.code, failed.out) == (2, "")
        assert said in failed.err
    assert not (tmp_path / "model").exists()


def test_unseen_names(nary: Nary, run_folder: Path, model: TrainedModel, tmp_path: Path) -> None:
    stored = next(model.dataset.train.facts(model.vocabulary))
    relation, entity = stored.relation, stored.object
    query = f"Ada | {relation} | ?"
    assert "unknown entity 'Ada'" in nary("predict", run_folder, query).err
    shown = nary("predict", run_folder, query, "--unseen", "--json").json
    assert shown["notes"][0] == f"'Ada' is treated as the average subject of {relation}"
    assert shown["answers"]
    facts = [Fact("Ada", relation, entity), Fact(entity, relation, entity)]
    write(Dataset.from_facts("new", {"train": facts}), tmp_path / "new.jsonl")
    without = nary("score", run_folder, tmp_path / "new.jsonl", "--json")
    assert without.out.count("\n") == 2  # every fact has its line, and one the reason why it has no score
    assert without.out.count("unknown entity 'Ada'") == 1
    assert "1 fact has no score" in without.err
    scored = nary("score", run_folder, tmp_path / "new.jsonl", "--unseen", "--json")
    assert scored.out.count("'Ada' is treated as") == 1
    assert scored.out.count("\n") == 2
    assert nary("score", run_folder, f"Ada | {relation} | {entity}", "--unseen").code == 0
    (tmp_path / "queries.txt").write_text(f"{query}\n")
    many = ("predict", run_folder, "--facts", tmp_path / "queries.txt", "--out", tmp_path / "answers.jsonl")
    assert "unknown entity 'Ada'" in nary(*many).err
    assert nary(*many, "--unseen").code == 0
    assert json.loads((tmp_path / "answers.jsonl").read_text())["notes"] == shown["notes"]
