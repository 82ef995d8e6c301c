"""Mapped datasets: equal to what was converted, shared by processes, and refused when they are damaged."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from runs.small import small_data

from nary.data.audit import audit
from nary.data.dataset import Dataset
from nary.data.io.mapped import open_mapped
from nary.data.io.reader import read, read_with_places
from nary.data.io.writer import write
from nary.data.statistics import statistics
from nary.errors import NaryError, OutputError
from nary.facts import Fact
from nary.facts.names import PackedNames
from nary.files.manifest import write_manifest
from nary.training.batches import TrainingBatches
from nary.training.settings import TrainingSettings

names = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=3).filter(
    lambda name: name != "?"
)
fact_lists = st.lists(
    st.builds(Fact, names, names, names, st.lists(st.tuples(names, names), max_size=3)), min_size=1, max_size=6
)


def dataset() -> Dataset:
    """Two splits, with labels and types."""
    train = [Fact("Q1", "P1", "Q2", [("P2", "1903"), ("P1", "Q3")]), Fact("Q3", "P1", "Q1"), Fact("Q2", "P2", "Zoë 𝄞")]
    data = Dataset.from_facts("odd", {"train": train, "test": [Fact("Q1", "P2", "Q3")]}, {"Q1": "Ada\tL.", "P1": ""})
    vocabulary = replace(data.vocabulary, types={"Q1": ("Person", "Writer"), "Q2": ("City",)})
    return replace(data, vocabulary=vocabulary, prefixes={"ex": "http://example.org/"})


@given(fact_lists, fact_lists)
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_everything_comes_back(tmp_path_factory: pytest.TempPathFactory, train: list[Fact], test: list[Fact]) -> None:
    folder = tmp_path_factory.mktemp("data") / "mapped"
    data = Dataset.from_facts("x", {"train": train, "test": test})
    write(data, folder, format="mapped")
    again = read(folder)
    assert again.name == "mapped"
    assert dict(again.splits) == dict(data.splits)
    assert again.vocabulary == data.vocabulary
    assert again.fingerprint == data.fingerprint
    assert list(again) == list(data)


def test_labels_types_and_prefixes_come_back(tmp_path: Path) -> None:
    data = dataset()
    write(data, tmp_path / "mapped", format="mapped")
    again = read(tmp_path / "mapped")
    assert dict(again.vocabulary.labels) == dict(data.vocabulary.labels)
    assert dict(again.vocabulary.types) == dict(data.vocabulary.types)
    assert again.prefixes == data.prefixes
    assert again.vocabulary.label("Q1") == "Ada\tL."


def test_it_stays_on_the_disk_and_is_not_copied(tmp_path: Path) -> None:
    write(small_data(), tmp_path / "mapped", format="mapped")
    again = read(tmp_path / "mapped")
    for block in again.train.blocks:
        assert isinstance(block.ids, np.memmap)
        assert not block.ids.flags.writeable
    assert isinstance(again.vocabulary.entities, PackedNames)
    assert isinstance(again.vocabulary.entities.text, np.memmap)
    only_train = replace(again, splits={"train": again.train})
    assert only_train.facts is again.train


def test_tools_and_batches_are_the_same(tmp_path: Path) -> None:
    data = small_data()
    write(data, tmp_path / "small", format="mapped")
    again = replace(read(tmp_path / "small"), name=data.name)
    assert statistics(again).as_dict() == statistics(data).as_dict()
    assert audit(again).as_dict() == audit(data).as_dict()
    for options in ({}, {"shuffle": "instances", "merge_queries": True}):
        wanted = TrainingSettings.model_validate({"batch_size": 64, **options})
        one, other = (TrainingBatches(each.train, wanted).batch_at(3) for each in (data, again))
        assert one.targets.tolist() == other.targets.tolist()
        for mine, theirs in zip(one.batch.groups, other.batch.groups, strict=True):
            assert mine.ids.tolist() == theirs.ids.tolist()


def test_places_are_numbers_of_facts(tmp_path: Path) -> None:
    write(dataset(), tmp_path / "mapped", format="mapped")
    _, places = read_with_places(tmp_path / "mapped")
    train, test = str(tmp_path / "mapped" / "train"), str(tmp_path / "mapped" / "test")
    assert places.of("train") == [(train, 1), (train, 2), (train, 3)]
    assert places.of("test") == [(test, 1)]


def test_a_folder_that_is_not_empty_is_kept(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match="not an empty folder"):
        write(dataset(), tmp_path, format="mapped")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def _change(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Path], object]:
    """Replace an array and list it in the manifest, as someone would who wants it to be read."""

    def damage(folder: Path) -> None:
        np.save(folder / name, change(np.load(folder / name)))
        write_manifest(folder)

    return damage


def _describe(**changes: object) -> Callable[[Path], object]:
    def damage(folder: Path) -> None:
        path = folder / "dataset.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
        write_manifest(folder)

    return damage


def _with(array: np.ndarray, i: object, value: int) -> np.ndarray:
    array[i] = value
    return array


def _huge(path: Path) -> None:
    """Pretend that the array has more elements than can be counted."""
    with path.open("wb") as file:
        header = {"descr": "<i8", "fortran_order": False, "shape": (10**40,)}
        np.lib.format.write_array_header_1_0(file, header)
    write_manifest(path.parent)


KINDS = ("entities", "relations", "labels-names", "labels", "types-names", "types")
DAMAGES: dict[str, Callable[[Path], object]] = {
    "a byte is missing": lambda folder: (folder / "entities-text.npy").write_bytes(
        (folder / "entities-text.npy").read_bytes()[:-1]
    ),
    "a file is gone": lambda folder: (folder / "train/arity-2-rows.npy").unlink(),
    "no manifest": lambda folder: (folder / "manifest.json").unlink(),
    "no description": lambda folder: (folder / "dataset.json").write_text("[]"),
    "another format": _describe(format=2),
    "another split": _describe(splits=["train", "../train"]),
    "no split": _describe(splits=[]),
    "more sorted names than names": _describe(num_sorted=dict.fromkeys(("entities", "relations"), 99)),
    "half a sorted name": _describe(num_sorted={**dict.fromkeys(KINDS, 0), "entities": 0.5}),
    "an array without end": lambda folder: _huge(folder / "relations-offsets.npy"),
    "an entity without a name": _change("train/arity-2-ids.npy", lambda ids: _with(ids, (0, 1), 9)),
    "a relation without a name": _change("train/arity-4-ids.npy", lambda ids: _with(ids, (0, 3), 2)),
    "a negative id": _change("train/arity-4-ids.npy", lambda ids: _with(ids, (0, 6), -1)),
    "a place that is not there": _change("train/arity-2-rows.npy", lambda rows: _with(rows, 0, 99)),
    "a place twice": _change("train/arity-2-rows.npy", lambda rows: rows * 0 + 2),
    "the place of another fact": _change("train/arity-2-rows.npy", lambda rows: _with(rows, 0, 0)),
    "ids of another type": _change("train/arity-2-ids.npy", lambda ids: ids.astype(np.float32)),
    "offsets beyond the text": _change("entities-offsets.npy", lambda offsets: offsets * 2),
    "offsets that go back": _change("entities-offsets.npy", lambda offsets: _with(offsets, 1, 9)),
    "an offset within a character": _change(
        "entities-offsets.npy", lambda offsets: _with(offsets, -2, offsets[-1] - 1)
    ),
    "no UTF-8": _change("entities-text.npy", lambda text: _with(text, 0, 0xFF)),
    "a label too few": _change("labels-offsets.npy", lambda offsets: offsets[[0, -1]]),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damage_is_noticed(damage: Callable[[Path], object], tmp_path: Path) -> None:
    folder = tmp_path / "mapped"
    write(dataset(), folder, format="mapped")
    assert len(open_mapped(folder, "x")) == 4
    damage(folder)
    with pytest.raises(NaryError):
        open_mapped(folder, "x")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    folder = tmp_path / "mapped"
    write(dataset(), folder, format="mapped")
    os.mkfifo(folder / "train/arity-9-ids.npy")
    with pytest.raises(NaryError, match="regular file"):
        open_mapped(folder, "x")
    (folder / "train/arity-9-ids.npy").unlink()
    (folder / "labels-text.npy").unlink()
    write_manifest(folder)
    os.mkfifo(folder / "labels-text.npy")
    with pytest.raises(NaryError, match="regular file"):
        open_mapped(folder, "x")
