"""``nary facts``: what is stored, as a table and as JSON."""

from pathlib import Path

from apps.command import Nary

from nary.runs import TrainedModel


def test_facts_of_a_run(nary: Nary, run_folder: Path, model: TrainedModel) -> None:
    fact = next(fact for fact in model.dataset.train.facts(model.vocabulary) if fact.qualifiers)
    pattern = f"{fact.subject} | {fact.relation} | ?"
    for folder in (run_folder, run_folder / "model"):
        stored = nary("facts", folder, pattern, "--json").json
        assert {"fact": str(fact), "label": str(fact), "split": "train"} in stored["facts"]
        assert stored == model.find_facts(pattern).as_dict()
    table = nary("facts", run_folder, pattern, "-n", 1)
    assert table.code == 0
    assert f"{stored['total']} stored facts" in table.out
    unknown = nary("facts", run_folder, f"nobody | {fact.relation} | ?")
    assert (unknown.code, "unknown entity" in unknown.err) == (2, True)
