"""Leaving literals out: which facts go, which lose a qualifier, and that the vocabulary shrinks."""

from pathlib import Path

import pytest

from nary.data.dataset import Dataset
from nary.data.literals import drop_literals
from nary.data.reading import Input, read, read_files
from nary.facts import Fact, FactTable

DATE = "+1903-00-00T00:00:00Z#9#http://calendar"


def facts_of(dataset: Dataset) -> dict[str, list[Fact]]:
    return {split: list(table.facts(dataset.vocabulary)) for split, table in dataset.splits.items()}


def folder(path: Path, **splits: str) -> Dataset:
    for split, content in splits.items():
        (path / f"{split}.tsv").write_text(content)
    return read(path)


def test_golden_case(tmp_path: Path) -> None:
    dataset = folder(
        tmp_path,
        train=f"a\tr\tb\twhen\t{DATE}\tq\tc\n"  # loses a qualifier and with it an attribute
        f"a\tborn\t{DATE}\n"  # goes
        "c\tr\ta\n"
        f"a\tr\tb\tq\tc\twhen\t{DATE}x\n",  # becomes equal to the first, and stays
        test=f"{DATE}\tr\ta\nb\tr\tc\n",
    )
    found = drop_literals(dataset)
    first = Fact("a", "r", "b", [("q", "c")])
    assert facts_of(found) == {"train": [first, Fact("c", "r", "a"), first], "test": [Fact("b", "r", "c")]}
    assert found.vocabulary.entities == ("a", "b", "c")
    assert found.vocabulary.relations == ("q", "r")
    assert found.notes == ("literals left out: 2 names, and 2 facts about them",)


def test_nothing_to_leave_out(tmp_path: Path) -> None:
    dataset = folder(tmp_path, train="a\tr\tb\tq\tc\nb\tr\ta\n")
    found = drop_literals(dataset)
    assert facts_of(found) == facts_of(dataset)
    assert found.vocabulary == dataset.vocabulary


def test_a_split_may_become_empty_and_stay_so(tmp_path: Path) -> None:
    dataset = folder(tmp_path, train="a\tr\tb\n", test=f"a\tr\t{DATE}\n")
    once = drop_literals(dataset)
    assert facts_of(once) == {"train": [Fact("a", "r", "b")], "test": []}
    assert drop_literals(once).splits["test"] == FactTable([])


@pytest.mark.benchmark_data
@pytest.mark.parametrize("split", ["valid", "test"])
def test_wikipeople_without_literals_is_wikipeople_minus(benchmark_data: Path, split: str) -> None:
    full, _ = read_files("full", [Input(benchmark_data / "wikipeople" / f"n-ary_{split}.json", split)])
    published, _ = read_files("published", [Input(benchmark_data / "wikipeople-" / f"{split}.txt", split)])
    made = drop_literals(full)
    assert made.vocabulary == published.vocabulary
    assert made[split] == published[split]  # in the same order, duplicates kept
