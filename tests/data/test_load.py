"""Datasets by name, what DATA may mean, and the counts of the benchmarks."""

from pathlib import Path

import pytest
from runs.small import dataset_of

from nary.data.catalog import catalog_entry
from nary.data.load import load, resolve
from nary.data.transforms.splits import hold_out_valid
from nary.errors import DataError, DatasetError
from nary.facts import Fact


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NARY_DATA_HOME", str(tmp_path))
    (tmp_path / "teas").mkdir()
    return tmp_path


def write(home: Path, split: str, *lines: str) -> None:
    (home / "teas" / f"{split}.txt").write_text("".join(line.replace(" ", "\t") + "\n" for line in lines))


def test_the_embedded_dataset_needs_no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NARY_DATA_HOME", raising=False)
    assert load("nobel").name == "nobel"


def test_an_unknown_name(home: Path) -> None:
    with pytest.raises(DatasetError, match="'nobell'") as caught:
        load("nobell")
    assert "nobel" in str(caught.value.hint)


def test_a_fraction_of_valid_is_held_out_and_the_rest_goes_to_train() -> None:
    whole, part = load("nobel"), load("nobel", valid_fraction=0.2)
    assert len(part["valid"]) == pytest.approx(0.2 * len(whole["valid"]), abs=1)
    assert len(part.train) + len(part["valid"]) == len(whole.train) + len(whole["valid"])
    facts = set(whole["valid"].facts(whole.vocabulary))
    assert set(part["valid"].facts(part.vocabulary)) < facts
    assert part["test"] == whole["test"]
    assert load("nobel", valid_fraction=0.2)["valid"] == part["valid"]


def test_where_no_fact_can_be_held_out_there_is_no_valid() -> None:
    with pytest.raises(DatasetError, match="no fact of toy can be held out"):
        hold_out_valid(dataset_of(train=[Fact("Ada", "likes", "tea"), Fact("Bob", "drinks", "milk")]), 0.2)


def test_resolve_a_file_and_a_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home, "train", "Ada likes tea", "Bob likes tea")
    assert len(resolve(str(home / "teas" / "train.txt")).train) == 2
    monkeypatch.chdir(home)
    assert len(resolve("teas").train) == 2
    (home / "plain").write_text("likes Ada tea\nlikes\n")
    dataset = resolve("plain", format="tuples", on_error="skip")
    assert list(dataset.train.facts(dataset.vocabulary)) == [Fact("Ada", "likes", "tea")]


def test_a_name_wins_over_a_folder_unless_it_is_written_as_a_path(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home, "train", "Ada likes tea")
    (home / "teas").rename(home / "nobel")
    monkeypatch.chdir(home)
    assert len(resolve("nobel").train) > 1000
    assert len(resolve("./nobel").train) == 1


def test_resolve_something_that_is_neither(home: Path) -> None:
    with pytest.raises(DatasetError, match="no dataset is called 'jf17', and no such file or folder exists") as caught:
        resolve("jf17")
    assert "jf17k" in str(caught.value.hint)
    with pytest.raises(DataError, match="No such file"):
        resolve("jf17k.jsonl")


# name: facts per split, facts of arity > 2, entities, relations, lowest and highest arity, as measured independently
MEASURED = {
    "jf17k": ({"train": 76_379, "test": 24_568}, 46_320, 28_645, 501, (2, 6)),
    "wikipeople-": ({"train": 294_439, "valid": 37_715, "test": 37_712}, 9_482, 34_825, 178, (2, 7)),
    "jf17k-3": ({"train": 27_635, "valid": 3_454, "test": 3_455}, 34_544, 11_541, 208, (3, 3)),
    "jf17k-4": ({"train": 7_607, "valid": 951, "test": 951}, 9_509, 6_536, 69, (4, 4)),
    "wikipeople-3": ({"train": 20_656, "valid": 2_582, "test": 2_582}, 25_820, 12_270, 112, (3, 3)),
    "wikipeople-4": ({"train": 12_150, "valid": 1_519, "test": 1_519}, 15_188, 9_528, 95, (4, 4)),
    "jf17k-clean": ({"train": 61_400, "test": 17_635}, 24_484, 25_092, 493, (2, 6)),
    "wd50k": ({"train": 166_435, "valid": 23_913, "test": 46_159}, 32_167, 47_155, 531, (2, 67)),
    "wd50k_100": ({"train": 22_738, "valid": 3_279, "test": 5_297}, 31_314, 18_791, 278, (3, 67)),
    "fb-auto": ({"train": 6_778, "valid": 2_255, "test": 2_180}, 7_427, 3_388, 13, (2, 5)),
    "wd20k100v1": ({"train": 7_785, "valid": 295, "test": 365, "context": 2_667}, 11_112, 9_586, 91, (3, 67)),
    "wd20k100v2": ({"train": 4_146, "valid": 539, "test": 678, "context": 4_274}, 9_637, 8_282, 56, (3, 22)),
    "wp-ind": ({"train": 4_139, "valid": 275, "test": 275, "context": 708}, 5_240, 4_463, 36, (2, 4)),
    "wikipeople": ({"train": 294_439, "valid": 38_223, "test": 38_281}, 44_315, 39_777, 191, (2, 9)),
}
TABLE_1 = ("jf17k", "jf17k-3", "jf17k-4", "wikipeople-", "wikipeople-3", "wikipeople-4")


@pytest.mark.benchmark_data
@pytest.mark.parametrize("name", MEASURED)
def test_counts_of_the_benchmarks(benchmark_data: Path, name: str) -> None:
    from nary.data.catalog.describe import describe

    splits, higher_arity, entities, relations, (lowest, highest) = MEASURED[name]
    found = describe(name)
    assert found["facts"] == splits
    assert found["higher_arity"] == higher_arity
    assert (found["entities"], found["relations"]) == (entities, relations)
    arities = [int(arity) for arity in found["arities"]]
    assert (min(arities), max(arities)) == (lowest, highest)
    assert found["complete"] == (name != "wikipeople")
    assert all(file["verified"] for file in found["files"])
    counted = catalog_entry(name).counted
    if counted is not None:
        assert (counted.facts, counted.higher_arity) == (splits, higher_arity)
        assert (counted.entities, counted.relations) == (entities, relations)
        assert list(counted.arities) == arities
    if name in TABLE_1:
        assert "Table 1" in found["published"]["source"]
        assert set(found["published"]) == {"source", "facts", "higher_arity", "entities", "relations", "arities"}
        assert found["differences"] == []


@pytest.mark.benchmark_data
def test_differences_from_what_was_published_are_explained(benchmark_data: Path) -> None:
    from nary.data.catalog.describe import describe

    for name in ("wikipeople", "wd50k", "wd50k_100", "fb-auto"):
        found = describe(name)["differences"]
        assert found, name
        assert all(difference["why"] for difference in found)


@pytest.mark.benchmark_data
def test_arities_of_jf17k_split_by_split(benchmark_data: Path) -> None:
    dataset = load("jf17k")
    assert dataset.train.arities == {2: 44_210, 3: 23_814, 4: 6_937, 5: 1_397, 6: 21}
    assert dataset.test.arities == {2: 10_417, 3: 10_730, 4: 2_572, 5: 833, 6: 16}


@pytest.mark.benchmark_data
def test_a_valid_split_for_jf17k(benchmark_data: Path) -> None:
    dataset = load("jf17k", valid_fraction=0.2)
    assert list(dataset.splits) == ["train", "valid", "test"]
    assert len(dataset.valid) == 15_276  # 0.2 * 76,379 = 15,275.8
    assert len(dataset.train) == 76_379 - 15_276
    assert "15,276" in dataset.notes[-1]


@pytest.mark.benchmark_data
@pytest.mark.parametrize("name", ["wikipeople-3", "wikipeople-4"])
def test_restored_attributes_equal_the_keyed_files(
    benchmark_data: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyed = load(name)
    (tmp_path / name).mkdir()
    for split in ("train", "valid", "test"):
        (tmp_path / name / f"{split}.txt").symlink_to(benchmark_data / name / f"{split}.txt")
    for other in ("wikipeople", "wikipeople-"):
        (tmp_path / other).symlink_to(benchmark_data / other)
    monkeypatch.setenv("NARY_DATA_HOME", str(tmp_path))
    restored = load(name)
    assert restored.vocabulary == keyed.vocabulary
    assert restored.vocabulary.labels == keyed.vocabulary.labels
    assert restored.splits == keyed.splits
