"""Datasets without literals, and without qualifiers."""

from pathlib import Path

import pytest
from evaluation.toys import dataset_of

from nary.data.dataset import Dataset
from nary.data.io.reader import InputFile, read, read_files
from nary.data.transforms.simplify import drop_literals, drop_qualifiers, primary_triples
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
    assert found.notes == ("literals dropped: 2 names, and 2 facts about them",)


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
    full, _ = read_files("full", [InputFile(benchmark_data / "wikipeople" / f"n-ary_{split}.json", split)])
    published, _ = read_files("published", [InputFile(benchmark_data / "wikipeople-" / f"{split}.txt", split)])
    made = drop_literals(full)
    assert made.vocabulary == published.vocabulary
    assert made[split] == published[split]  # in the same order, duplicates kept


TRAIN = [
    Fact("Ada", "won", "Prize", [("in", "1901")]),
    Fact("Ben", "won", "Prize"),
    Fact("Ada", "won", "Prize", [("in", "1902"), ("with", "Ben")]),
]
TEST = [Fact("Ada", "won", "Prize", [("in", "1903")]), Fact("Cy", "won", "Prize"), Fact("Cy", "won", "Prize")]


def test_the_primary_triple_of_each_fact_in_order() -> None:
    data = dataset_of(train=TRAIN)
    found = primary_triples(data.train)
    assert list(found.facts(data.vocabulary)) == [
        Fact("Ada", "won", "Prize"),
        Fact("Ben", "won", "Prize"),
        Fact("Ada", "won", "Prize"),
    ]
    assert primary_triples(found) == found
    assert len(primary_triples(FactTable([]))) == 0


def test_there_may_be_no_train() -> None:
    found = drop_qualifiers(dataset_of(valid=TRAIN, test=TEST))
    assert found.notes[-1] == "Qualifiers are left out. Distinct triples: 2 of 3 in valid, 2 of 3 in test."


def test_a_dataset_keeps_its_splits_and_names() -> None:
    data = dataset_of(train=TRAIN, test=TEST)
    found = drop_qualifiers(data)
    assert {split: len(table) for split, table in found.splits.items()} == {"train": 3, "test": 3}
    assert found.facts.arities == {2: 6}
    assert found.vocabulary == data.vocabulary  # values stay candidates
    assert found.name == data.name
    assert found.fingerprint != data.fingerprint
    assert found.notes[-1] == (
        "Qualifiers are left out. Distinct triples: 2 of 3 in train, 2 of 3 in test. "
        "1 fact of test is a triple of train."
    )
