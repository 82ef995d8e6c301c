"""Datasets from the files of the catalog, and attributes restored from a larger dataset."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.data.catalog import CatalogEntry, FactFile, File, Variant
from nary.data.catalog.assemble import load_dataset, restore_attributes
from nary.data.catalog.locate import cache_home
from nary.data.dataset import Dataset
from nary.errors import DataError, DatasetError
from nary.facts import Fact, FactTable, Vocabulary


def dataset_of(name: str, **splits: Sequence[Fact]) -> Dataset:
    facts = [fact for own in splits.values() for fact in own]
    vocabulary = Vocabulary.of(
        (name for fact in facts for name in (fact.subject, fact.object, *(value for _, value in fact.qualifiers))),
        (name for fact in facts for name in (fact.relation, *(attribute for attribute, _ in fact.qualifiers))),
    )
    return Dataset(name, vocabulary, {split: FactTable.from_facts(own, vocabulary) for split, own in splits.items()})


def stripped(fact: Fact) -> Fact:
    """As a line of tuples gives it: the values in the order of the line, under numbered attributes."""
    values = [value for _, value in reversed(fact.qualifiers)]
    pairs = [(f"{fact.relation}_{k}", value) for k, value in enumerate(values)]
    return Fact(fact.subject, fact.relation, fact.object, pairs)


FULL = dataset_of(
    "full",
    train=[
        Fact("Ada", "member of", "club", [("start", "1901"), ("end", "1905")]),
        Fact("Ada", "member of", "club", [("start", "1907")]),
        Fact("Bea", "born in", "Rome"),
    ],
    test=[Fact("Cem", "member of", "guild", [("role", "cook"), ("start", "1901")])],
)


def test_attributes_come_back_whatever_the_order_of_values() -> None:
    bare = dataset_of(
        "bare",
        train=[Fact("Cem", "member of", "guild", [("member of_0", "cook"), ("member of_1", "1901")])],
        test=[Fact("Ada", "member of", "club", [("member of_0", "1905"), ("member of_1", "1901")])],
    )
    found = restore_attributes(bare, FULL)
    assert found.name == "bare"
    assert list(found.train.facts(found.vocabulary)) == list(FULL.test.facts(FULL.vocabulary))
    assert list(found.test.facts(found.vocabulary)) == [next(FULL.train.facts(FULL.vocabulary))]
    assert found.vocabulary.entities == ("1901", "1905", "Ada", "Cem", "club", "cook", "guild")  # no Bea, no 1907
    assert found.vocabulary.relations == ("end", "member of", "role", "start")


def test_several_arities_keep_the_order_of_the_facts() -> None:
    originals = list(FULL.train.facts(FULL.vocabulary))
    bare = dataset_of("bare", train=[stripped(fact) for fact in reversed(originals)])
    found = restore_attributes(bare, FULL)
    assert list(found.train.facts(found.vocabulary)) == list(reversed(originals))


def test_of_several_that_fit_the_last_one_counts() -> None:
    full = dataset_of("full", train=[Fact("a", "r", "b", [("x", "v")])], test=[Fact("a", "r", "b", [("y", "v")])])
    found = restore_attributes(dataset_of("bare", train=[Fact("a", "r", "b", [("r_0", "v")])]), full)
    assert list(found.train.facts(found.vocabulary)) == [Fact("a", "r", "b", [("y", "v")])]


@pytest.mark.parametrize(
    "lost",
    [
        Fact("Ada", "member of", "club", [("member of_0", "1901"), ("member of_1", "1901")]),  # known names
        Fact("Ada", "member of", "club", [("member of_0", "1999")]),  # an unknown value
        Fact("Ada", "left", "club", [("left_0", "1907")]),  # an unknown relation
        Fact("Ada", "member of", "club", [(f"member of_{k}", "1907") for k in range(5)]),  # an unknown arity
    ],
    ids=str,
)
def test_a_fact_that_is_not_there_is_an_error_that_shows_it(lost: Fact) -> None:
    present = Fact("Ada", "member of", "club", [("member of_0", "1907")])
    with pytest.raises(DatasetError, match="valid fact of bare is not in full") as caught:
        restore_attributes(dataset_of("bare", valid=[present, lost]), FULL)
    assert str(lost) in caught.value.message


names = st.sampled_from("abcd")


@given(
    st.lists(
        st.builds(Fact, names, names, names, st.lists(st.tuples(names, names), max_size=3)),
        min_size=1,
        unique_by=lambda fact: (fact.primary, tuple(sorted(value for _, value in fact.qualifiers))),
    )
)
def test_restoring_undoes_stripping(facts: list[Fact]) -> None:
    full = dataset_of("full", train=facts)
    found = restore_attributes(dataset_of("bare", test=[stripped(fact) for fact in facts]), full)
    assert list(found.test.facts(found.vocabulary)) == facts
    assert found.vocabulary == full.vocabulary


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NARY_DATA_HOME", str(tmp_path))
    (tmp_path / "teas").mkdir()
    return tmp_path


def fact_file(split: str, path: str | None = None, **more: int) -> FactFile:
    return FactFile(path=path or f"{split}.txt", split=split, format="hyper-relational", **more)


def teas(*files: FactFile, complete: bool = True) -> CatalogEntry:
    return CatalogEntry(
        name="teas",
        description="",
        sources=(),
        license="",
        citation="",
        notes=("They are hot.",),
        labels=File(path="../names.tsv"),
        variants=(Variant(files=files, complete=complete, reason="" if complete else "INCOMPLETE: no green tea."),),
    )


def write(home: Path, split: str, *lines: str) -> None:
    (home / "teas" / f"{split}.txt").write_text("".join(line.replace(" ", "\t") + "\n" for line in lines))


def facts(info: CatalogEntry, split: str) -> list[Fact]:
    dataset = load_dataset(info)
    return list(dataset[split].facts(dataset.vocabulary))


def test_files_become_splits_with_labels_and_notes(home: Path) -> None:
    write(home, "train", "Ada likes tea since 1840", "Bob likes tea")
    write(home, "test", "Bob likes tea since 1850")
    (home / "names.tsv").write_text("Ada\tAda Lovelace\tinvented\nCem\tCem Someone\tinvented\n")
    dataset = load_dataset(teas(fact_file("train"), fact_file("test")))
    assert dataset.name == "teas"
    assert list(dataset.splits) == ["train", "test"]
    assert list(dataset.train.facts(dataset.vocabulary)) == [
        Fact("Ada", "likes", "tea", [("since", "1840")]),
        Fact("Bob", "likes", "tea"),
    ]
    assert dataset.vocabulary.labels == {"Ada": "Ada Lovelace"}, "only names that occur"
    assert dataset.notes == ("They are hot.",)


def test_labels_may_be_missing(home: Path) -> None:
    write(home, "train", "Bob likes tea")
    assert load_dataset(teas(fact_file("train"))).vocabulary.labels == {}


def test_an_incomplete_dataset_says_so_first(home: Path) -> None:
    write(home, "train", "Bob likes tea")
    info = teas(fact_file("train"), complete=False)
    for _ in ("read", "cached"):
        assert load_dataset(info).notes == ("INCOMPLETE: no green tea.", "They are hot.")


def test_several_files_may_feed_a_split_and_only_their_first_lines(home: Path) -> None:
    write(home, "train", "Ada likes tea", "Bob likes tea", "Cem likes tea")
    write(home, "more", "Dan likes tea")
    assert facts(teas(fact_file("train", first_lines=2), fact_file("train", "more.txt")), "train") == [
        Fact("Ada", "likes", "tea"),
        Fact("Bob", "likes", "tea"),
        Fact("Dan", "likes", "tea"),
    ]


def test_a_known_defect_is_left_out(home: Path) -> None:
    write(home, "train", "Ada likes tea", "model")
    assert facts(teas(fact_file("train", known_defects=1)), "train") == [Fact("Ada", "likes", "tea")]


@pytest.mark.parametrize("defects", [[], ["model", "brand"]])
def test_another_number_of_defects_is_an_error(home: Path, defects: list[str]) -> None:
    write(home, "train", "Ada likes tea", *defects)
    with pytest.raises(DatasetError, match=f"{len(defects)} lines that are not facts, expected 1"):
        load_dataset(teas(fact_file("train", known_defects=1)))


def test_without_known_defects_the_first_one_stops_the_reading(home: Path) -> None:
    write(home, "train", "Ada likes tea", "model")
    with pytest.raises(DataError, match="fields") as caught:
        load_dataset(teas(fact_file("train")))
    assert caught.value.line == 2


def test_context_leaves_out_what_is_in_train(home: Path) -> None:
    write(home, "train", "Ada likes tea since 1840 in Rome", "Bob likes tea")
    write(
        home,
        "context",
        "Ada likes tea in Rome since 1840",
        "Ada likes tea since 1840",
        "Bob likes tea",
        "Cem likes tea",
    )
    info = teas(fact_file("train"), fact_file("context"))
    assert facts(info, "context") == [Fact("Ada", "likes", "tea", [("since", "1840")]), Fact("Cem", "likes", "tea")]
    assert len(facts(info, "train")) == 2


def test_the_second_time_comes_from_the_cache(home: Path) -> None:
    write(home, "train", "Ada likes tea since 1840", "Bob likes tea")
    info = teas(fact_file("train"))
    first, second = load_dataset(info), load_dataset(info)
    assert not any(isinstance(block.ids, np.memmap) for block in first.train.blocks)
    assert all(isinstance(block.ids, np.memmap) for block in second.train.blocks)
    assert first.train == second.train
    assert first.vocabulary == second.vocabulary
    assert first.notes == second.notes


def test_other_files_other_facts(home: Path) -> None:
    info = teas(fact_file("train"))
    write(home, "train", "Ada likes tea")
    assert facts(info, "train") == [Fact("Ada", "likes", "tea")]
    write(home, "train", "Bob likes tea")
    assert facts(info, "train") == [Fact("Bob", "likes", "tea")]
    assert facts(teas(fact_file("valid", "train.txt")), "valid") == [Fact("Bob", "likes", "tea")]


def test_a_useless_cache_does_not_matter(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home, "train", "Ada likes tea")
    info = teas(fact_file("train"))
    load_dataset(info)
    for file in cache_home().rglob("*.npy"):
        file.write_bytes(b"rubbish")
    assert facts(info, "train") == [Fact("Ada", "likes", "tea")]
    shutil.rmtree(cache_home())
    cache_home().write_text("a file where the folder should be")
    assert facts(info, "train") == [Fact("Ada", "likes", "tea")]
