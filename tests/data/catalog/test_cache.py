"""The cache of parsed datasets: equal to what was saved, or not there."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from nary.data.catalog import cache
from nary.data.dataset import Dataset
from nary.facts import Fact, FactTable, Vocabulary

TRAIN = [Fact("Ada", "likes", "tea", [("since", "1840")]), Fact("Bob", "likes", "tea"), Fact("tea", "is", "hot")]
TEST = [Fact("Bob", "is", "hot")]


@pytest.fixture
def dataset() -> Dataset:
    vocabulary = Vocabulary.of(["Ada", "Bob", "tea", "hot", "1840"], ["likes", "is", "since"], {"Ada": "Ada Lovelace"})
    tables = {split: FactTable.from_facts(facts, vocabulary) for split, facts in (("train", TRAIN), ("test", TEST))}
    return Dataset("teas", vocabulary, tables)


def test_what_was_saved_comes_back(dataset: Dataset) -> None:
    folder = cache.cache_folder("teas", ["source"])
    assert cache.load("teas", folder) is None
    cache.save(dataset, folder)
    found = cache.load("teas", folder)
    assert found is not None
    assert found.name == "teas"
    assert list(found.splits) == ["train", "test"]
    assert found.train == dataset.train
    assert found.test == dataset.test
    assert found.vocabulary == dataset.vocabulary
    assert found.vocabulary.labels == {"Ada": "Ada Lovelace"}
    assert all(isinstance(block.ids, np.memmap) for block in found.train.blocks)


def test_the_folder_depends_on_the_sources_and_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    one = cache.cache_folder("teas", ["a", "b"])
    assert one == cache.cache_folder("teas", ["a", "b"])
    assert one.name.startswith("teas-")
    others = {
        cache.cache_folder("teas", ["a", "c"]),
        cache.cache_folder("teas", ["b", "a"]),
        cache.cache_folder("tea", ["a", "b"]),
    }
    monkeypatch.setattr(cache, "__version__", "another")
    others.add(cache.cache_folder("teas", ["a", "b"]))
    monkeypatch.setattr(cache, "FORMAT", cache.FORMAT + 1)
    others.add(cache.cache_folder("teas", ["a", "b"]))
    assert len(others - {one}) == 5


def shortened(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [shortened, flipped, Path.unlink])
@pytest.mark.parametrize("file", ["train/arity-3-ids.npy", "test/arity-2-rows.npy", "vocabulary.json", "contents.json"])
def test_damage_is_noticed_and_repaired(dataset: Dataset, file: str, damage: Callable[[Path], None]) -> None:
    folder = cache.cache_folder("teas", ["source"])
    cache.save(dataset, folder)
    damage(folder / file)
    assert cache.load("teas", folder) is None
    cache.save(dataset, folder)
    assert cache.load("teas", folder) is not None


@pytest.mark.parametrize("contents", [[], 3, {}, {"files": []}, {"files": {}}, {"files": {}, "splits": ["train"]}])
def test_a_strange_table_of_contents_is_no_error(contents: object) -> None:
    folder = cache.cache_folder("teas", ["source"])
    folder.mkdir(parents=True)
    (folder / "contents.json").write_text(json.dumps(contents))
    assert cache.load("teas", folder) is None


def test_a_cache_that_cannot_be_written_is_no_error(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("NARY_CACHE_HOME", str(tmp_path / "file"))
    folder = cache.cache_folder("teas", ["source"])
    cache.save(dataset, folder)
    assert cache.load("teas", folder) is None
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
