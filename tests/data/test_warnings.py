"""Warnings, on data small enough to count by hand."""

from nary.data.dataset import Dataset
from nary.data.warnings import warnings
from nary.facts import Fact


def test_labels_that_several_entities_share() -> None:
    facts = [Fact("p1", "knows", "p2"), Fact("p3", "knows", "p1")]
    labels = {"p1": "Ann", "p2": "Ann", "p3": "Bob", "unused": "Bob"}
    (warning,) = warnings(Dataset.from_facts("toy", {"train": facts}, labels))
    assert (warning["kind"], warning["count"], warning["examples"]) == ("duplicate labels", 1, ["Ann"])
    assert warnings(Dataset.from_facts("toy", {"train": facts})) == []


def test_numbers_and_dates_that_occur_once() -> None:
    def paid(suffix: str) -> Dataset:
        facts = [Fact("a", "paid", "b", [("amount", f"{i}{suffix}"), ("share", f"{i % 4}")]) for i in range(30)]
        facts += [Fact("a", "born", f"19{i:02}-01-02{suffix and '^^date'}") for i in range(30)]
        return Dataset.from_facts("toy", {"train": facts})

    (warning,) = warnings(paid(""))
    assert (warning["kind"], warning["examples"]) == ("unique numbers", ["amount", "born"])
    assert warnings(paid("^^number")) == []


def test_relations_that_a_split_misses() -> None:
    def facts(relation: str, n: int) -> list[Fact]:
        return [Fact(f"s{i}", relation, "o") for i in range(n)]

    train = [*facts("r", 60), *facts("q", 30), *facts("rare", 3)]  # of rare, 3 x 12/93 are too few to expect
    splits = {"train": train, "test": facts("r", 12), "valid": facts("q", 12)}
    missed = {each["kind"]: each["examples"] for each in warnings(Dataset.from_facts("toy", splits))}
    assert missed == {
        "relations missing in valid": ["r"],
        "relations missing in test": ["q"],
    }
