"""Writing: whatever goes out comes back equal, and what a format cannot hold is refused."""

import gzip
import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from nary.data.dataset import SPLITS, Dataset
from nary.data.io.reader import read
from nary.data.io.writer import write
from nary.data.load import load
from nary.errors import OutputError, SettingError
from nary.facts import Fact, FactTable, Vocabulary

characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
few = st.sampled_from(["a", "b", "c", "1903"])
odd = st.sampled_from(
    ["??", '"', '"a', 'a"b"', " ", "\t", "a,b", "a\tb", "a\nb", "\r", "\x1c", "\u2028", "é", "𝄞", "{"]
)
looking_like_another_format = st.sampled_from(
    ["[1", "[1]", "\ufeff", "\ufeffa", "PAR1", "BZh", "a_h/a_t", "{}", "split"]
)
labels = (
    few | odd | looking_like_another_format | st.text(characters, min_size=1, max_size=4).filter(lambda t: t != "?")
)


def facts_with(labels: st.SearchStrategy[str]) -> st.SearchStrategy[list[Fact]]:
    facts = st.builds(Fact, labels, labels, labels, st.lists(st.tuples(labels, labels), max_size=3))
    return st.lists(facts, min_size=1, max_size=6)


fact_lists = facts_with(labels)
one_line_fact_lists = facts_with(labels.map(lambda label: label.translate({10: "n", 13: "r"})))
EFFORT = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
PLAIN = [
    Fact("a", "r", "b", [("q", "c"), ("q", "a")]),
    Fact("b", "r", "c"),
    Fact("a", "r", "b", [("q", "a"), ("q", "c")]),
]


def dataset_of(splits: dict[str, list[Fact]], labels: dict[str, str] | None = None) -> Dataset:
    everything = list(itertools.chain(*splits.values()))
    entities = [e for f in everything for e in (f.subject, f.object, *(value for _, value in f.qualifiers))]
    relations = [r for f in everything for r in (f.relation, *(attribute for attribute, _ in f.qualifiers))]
    vocabulary = Vocabulary.of(entities, relations, labels)
    tables = {split: FactTable.from_facts(own, vocabulary) for split, own in splits.items()}
    return Dataset("test data", vocabulary, tables)


def check_equal(found: Dataset, given: Dataset) -> None:
    assert found.vocabulary == given.vocabulary
    assert list(found.splits) == [split for split in SPLITS if split in given.splits]
    assert all(found[split] == table for split, table in given.splits.items())


def check_round_trip(dataset: Dataset, out: Path, format: str | None = None) -> None:
    write(dataset, out, format=format)
    check_equal(read(out), dataset)


@EFFORT
@given(st.dictionaries(st.sampled_from(SPLITS), fact_lists, min_size=1))
@example({"test": PLAIN})
@example({"train": [Fact("split", "split", "split", [("split", "train")])], "test": PLAIN})
def test_json_lines_and_parquet_hold_anything(tmp_path: Path, splits: dict[str, list[Fact]]) -> None:
    dataset = dataset_of(splits)
    for name in ("facts.jsonl", "facts.parquet", "facts.jsonl.gz", "facts.jsonl.bz2", "facts.ndjson.zst"):
        check_round_trip(dataset, tmp_path / name)


@EFFORT
@given(one_line_fact_lists)
@example([Fact(" ", " ", " ")])
@example([Fact("[1", "2", "3]")])
@example([Fact("\ufeff", "r", "o")])
@example([Fact("BZh9", "r", "o")])
@example([Fact("PAR1", "r", "o")])
@example([Fact("a_h/a_t", "r", "o")])
@example([Fact("a\tb", "c,d", '"e"')])
def test_fields_hold_anything_but_line_ends(tmp_path: Path, given_facts: list[Fact]) -> None:
    dataset = dataset_of({"train": given_facts})
    for name in ("facts.tsv", "facts.csv", "facts.tsv.gz"):
        check_round_trip(dataset, tmp_path / name)


gran_facts = facts_with(labels.filter(lambda label: label not in ("N", "relation", "subject", "object")))


@EFFORT
@given(gran_facts)
@example([Fact("s", "r", "o", [("qualifiers", "v")])])
@example([Fact("s", "r", "o", [("a_h", "v"), ("a_t", "w")])])
def test_the_gran_format_holds_anything_but_its_own_keys(tmp_path: Path, given_facts: list[Fact]) -> None:
    check_round_trip(dataset_of({"train": given_facts}), tmp_path / "facts.json", "gran")


@EFFORT
@given(st.dictionaries(st.sampled_from(SPLITS[1:]), gran_facts), st.sampled_from(["jsonl", "parquet", "gran"]))
def test_folders(tmp_path_factory: pytest.TempPathFactory, splits: dict[str, list[Fact]], format: str) -> None:
    dataset = dataset_of({"train": PLAIN, **splits})
    check_round_trip(dataset, tmp_path_factory.mktemp("out") / "data", format)


def test_what_the_files_look_like(tmp_path: Path) -> None:
    dataset = dataset_of(
        {"train": [Fact("Ä", "r", 'a "b"', [("q", "x\ty"), ("q", "w")])], "test": [Fact("Ä", "r", "w")]}
    )
    write(dataset, tmp_path / "facts.jsonl")
    assert (tmp_path / "facts.jsonl").read_text(encoding="utf-8") == (
        '{"subject":"Ä","relation":"r","object":"a \\"b\\"","qualifiers":[["q","w"],["q","x\\ty"]],"split":"train"}\n'
        '{"subject":"Ä","relation":"r","object":"w","qualifiers":[],"split":"test"}\n'
    )
    write(dataset, tmp_path / "tsv", format="hyper-relational")
    assert (tmp_path / "tsv" / "train.tsv").read_text(encoding="utf-8") == 'Ä\tr\t"a ""b"""\tq\tw\tq\t"x\ty"\n'
    assert (tmp_path / "tsv" / "test.tsv").read_text(encoding="utf-8") == "Ä\tr\tw\n"
    write(dataset, tmp_path / "gran", format="gran")
    assert (tmp_path / "gran" / "train.json").read_text(encoding="utf-8") == (
        '{"N":4,"relation":"r","subject":"Ä","object":"a \\"b\\"","q":["w","x\\ty"]}\n'
    )


def test_a_single_split_of_its_own_keeps_its_name_and_train_needs_none(tmp_path: Path) -> None:
    check_round_trip(dataset_of({"test": PLAIN}), tmp_path / "facts.parquet")
    write(dataset_of({"train": PLAIN}), tmp_path / "facts.jsonl")
    assert "split" not in (tmp_path / "facts.jsonl").read_text()


def test_a_folder_keeps_labels(tmp_path: Path) -> None:
    dataset = dataset_of({"train": PLAIN}, {"a": "Ä label", "q": "another"})
    write(dataset, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["labels.tsv", "train.jsonl"]
    assert read(tmp_path / "out").vocabulary.labels == dataset.vocabulary.labels


def test_a_folder_keeps_types(tmp_path: Path) -> None:
    dataset = dataset_of({"train": PLAIN})
    typed = replace(dataset, vocabulary=replace(dataset.vocabulary, types={"a": ("Person", "Author")}))
    write(typed, tmp_path / "out")
    assert (tmp_path / "out" / "types.tsv").read_text() == "a\tPerson\tAuthor\n"
    assert read(tmp_path / "out").vocabulary.types == {"a": ("Person", "Author")}


@pytest.mark.parametrize("labels", [{"a": "two\nlines"}, {"a\tb": "x"}, {"a": "x\r"}])
def test_labels_that_labels_tsv_cannot_hold(tmp_path: Path, labels: dict[str, str]) -> None:
    with pytest.raises(OutputError, match=r"labels\.tsv cannot hold"):
        write(dataset_of({"train": PLAIN}, labels), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_split_without_facts_is_left_out(tmp_path: Path) -> None:
    dataset = dataset_of({"train": PLAIN, "valid": []})
    for name in ("facts.jsonl", "facts.parquet", "facts.tsv", "folder"):
        write(dataset, tmp_path / name)
        assert list(read(tmp_path / name).splits) == ["train"]
    with pytest.raises(OutputError, match="no facts to write"):
        write(dataset_of({"train": []}), tmp_path / "none.jsonl")


def test_a_folder_is_never_overwritten(tmp_path: Path) -> None:
    dataset = dataset_of({"train": PLAIN})
    for name in ("full", "file"):
        (tmp_path / name).mkdir() if name == "full" else (tmp_path / name).write_text("mine")
    (tmp_path / "full" / "mine").write_text("mine")
    for name in ("full", "file"):
        with pytest.raises(OutputError, match="exists and is not an empty folder"):
            write(dataset, tmp_path / name)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "full", "mine"]
    (tmp_path / "empty.d").mkdir()
    check_round_trip(dataset, tmp_path / "empty.d")


def test_a_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "facts.jsonl").write_text("old")
    check_round_trip(dataset_of({"train": PLAIN}), tmp_path / "facts.jsonl")


def test_what_fields_cannot_hold(tmp_path: Path) -> None:
    for name in ("a\nb", "a\rb"):
        for fact in (Fact(name, "r", "o"), Fact("s", "r", "o", [("q", name)])):
            with pytest.raises(OutputError, match="contains a line end"):
                write(dataset_of({"train": [fact]}), tmp_path / "facts.tsv")
    for format, name in (("hyper-relational", "facts.tsv"), ("gran", "facts.json")):
        with pytest.raises(OutputError, match="cannot name the split of a fact, and test data has 2 splits"):
            write(dataset_of({"train": PLAIN, "test": PLAIN}), tmp_path / name, format=format)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("attribute", ["N", "relation", "subject", "object"])
def test_what_the_gran_format_cannot_hold(tmp_path: Path, attribute: str) -> None:
    with pytest.raises(OutputError, match=f"cannot hold an attribute named '{attribute}'"):
        write(dataset_of({"train": [Fact("s", "r", "o", [(attribute, "v")])]}), tmp_path / "x.json", format="gran")


def test_formats_that_cannot_be_told_or_written(tmp_path: Path) -> None:
    dataset = dataset_of({"train": PLAIN})
    with pytest.raises(OutputError, match=r"cannot tell a format from the name 'facts\.xyz'") as caught:
        write(dataset, tmp_path / "facts.xyz")
    assert ".jsonl" in caught.value.hint
    assert ".ttl" in caught.value.hint
    with pytest.raises(OutputError, match="cannot be written as tuples"):
        write(dataset, tmp_path / "facts.xyz", format="tuples")
    with pytest.raises(SettingError, match="unknown format 'jsonlines'"):
        write(dataset, tmp_path / "out", format="jsonlines")
    with pytest.raises(OutputError, match="Parquet has its own compression"):
        write(dataset, tmp_path / "facts.parquet.gz")
    assert list(tmp_path.iterdir()) == []


def test_equal_facts_give_equal_files(tmp_path: Path) -> None:
    for name in ("facts.jsonl.gz", "facts.parquet", "facts.tsv"):
        for folder in ("one", "two"):
            write(dataset_of({"train": PLAIN}), tmp_path / folder / name)
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert gzip.decompress((tmp_path / "one" / "facts.jsonl.gz").read_bytes()).count(b"\n") == 3


def test_progress_counts_facts(tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    write(
        dataset_of({"train": PLAIN, "test": PLAIN[:1]}), tmp_path / "x.jsonl", progress=lambda d, t: seen.append((d, t))
    )
    assert seen == [(3, 4), (4, 4)]


@pytest.mark.benchmark_data
@pytest.mark.usefixtures("benchmark_data")
@pytest.mark.parametrize("name", ["jf17k", "wd50k", "fb-auto", "jf17k-3", "wikipeople-", "wd20k100v1", "wp-ind"])
def test_benchmarks_come_back(tmp_path: Path, name: str) -> None:
    dataset = load(name)
    for file in ("facts.jsonl", "facts.parquet"):
        check_round_trip(dataset, tmp_path / file)
