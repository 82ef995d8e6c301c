"""Tables and vocabularies on disk: they come back equal, and damage is noticed."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nary.errors import DataError
from nary.facts import Fact, FactTable, Vocabulary, storage
from nary.facts import table as table_module
from nary.facts.storage import (
    check_table,
    load_table_parquet,
    load_vocabulary,
    open_table,
    save_table,
    save_table_parquet,
    save_vocabulary,
)

VOCABULARY = Vocabulary.of(["a", "b", "c"], ["r", "s"], {"a": "Ä"})
entities, relations = st.sampled_from(VOCABULARY.entities), st.sampled_from(VOCABULARY.relations)
fact_lists = st.lists(
    st.builds(Fact, entities, relations, entities, st.lists(st.tuples(relations, entities), max_size=3)), max_size=8
)
FACTS = [Fact("a", "r", "b", [("s", "c")]), Fact("b", "r", "c"), Fact("c", "s", "a", [("r", "a"), ("r", "b")])]
TABLE = FactTable.from_facts(FACTS, VOCABULARY)


@given(fact_lists)
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_tables_come_back(tmp_path_factory: pytest.TempPathFactory, facts: list[Fact]) -> None:
    folder = tmp_path_factory.mktemp("tables")
    table = FactTable.from_facts(facts, VOCABULARY)
    save_table(table, folder / "mapped")
    save_table_parquet(table, folder / "table.parquet")
    for again in (open_table(folder / "mapped"), load_table_parquet(folder / "table.parquet")):
        assert again == table
        assert again.fingerprint == table.fingerprint
        assert list(again.facts(VOCABULARY)) == facts


@pytest.mark.parametrize("size", [1, 2])
def test_parts_of_a_table_are_as_good_as_the_whole(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "_PART", size)
    monkeypatch.setattr(table_module, "_PART", size)
    save_table_parquet(TABLE, tmp_path / "table.parquet")
    again = load_table_parquet(tmp_path / "table.parquet")
    assert again == TABLE
    check_table(again, 3, 2)
    parts = FactTable(TABLE.blocks)
    assert list(parts.facts(VOCABULARY)) == FACTS
    fingerprint = parts.fingerprint
    monkeypatch.undo()
    assert fingerprint == FactTable(TABLE.blocks).fingerprint


def test_an_opened_table_stays_on_disk(tmp_path: Path) -> None:
    save_table(TABLE, tmp_path)
    for block in open_table(tmp_path).blocks:
        assert isinstance(block.ids, np.memmap)
        assert isinstance(block.rows, np.memmap)
        assert not block.ids.flags.writeable


def test_an_opened_table_works_like_any_other(tmp_path: Path) -> None:
    save_table(TABLE, tmp_path)
    mapped = open_table(tmp_path)
    assert mapped.take(np.array([0, 2])) == TABLE.take(np.array([0, 2]))
    assert FactTable.concatenate([mapped, mapped]) == FactTable.concatenate([TABLE, TABLE])


def test_a_name_is_not_a_pattern(tmp_path: Path) -> None:
    path = tmp_path / "table[1]*.parquet"
    save_table_parquet(TABLE, path)
    assert load_table_parquet(path) == TABLE


def test_vocabularies_come_back(tmp_path: Path) -> None:
    odd = Vocabulary.of(["a\nb", "\u2028", "𝄞", '"'], ["?", " "], {"𝄞": "a\tclef"})
    odd = replace(odd, types={"𝄞": ("sign", "letter")})
    save_vocabulary(odd, tmp_path / "vocabulary.json")
    again = load_vocabulary(tmp_path / "vocabulary.json")
    assert again == odd
    assert (again.labels, again.types) == (odd.labels, odd.types)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def _save(path: Path, array: object) -> None:
    np.save(path, np.asarray(array))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "ids cut off": lambda folder: _cut(folder / "arity-3-ids.npy"),
    "rows cut off": lambda folder: _cut(folder / "arity-3-rows.npy"),
    "rows gone": lambda folder: (folder / "arity-3-rows.npy").unlink(),
    "empty file": lambda folder: (folder / "arity-3-ids.npy").write_bytes(b""),
    "no array": lambda folder: (folder / "arity-3-ids.npy").write_text("something else"),
    "too few columns": lambda folder: _save(folder / "arity-3-ids.npy", np.zeros((1, 1), np.int32)),
    "an even number of columns": lambda folder: _save(folder / "arity-3-ids.npy", np.zeros((1, 4), np.int32)),
    "no columns": lambda folder: _save(folder / "arity-3-ids.npy", np.zeros(1, np.int32)),
    "other rows": lambda folder: _save(folder / "arity-3-rows.npy", np.zeros(2, np.int64)),
    "fractions": lambda folder: _save(folder / "arity-3-ids.npy", np.zeros((1, 5))),
    "small rows": lambda folder: _save(folder / "arity-3-rows.npy", np.zeros(1, np.int32)),
    "objects": lambda folder: np.save(folder / "arity-3-ids.npy", np.array([[{}]]), allow_pickle=True),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_folder_is_noticed(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    save_table(TABLE, tmp_path)
    damage(tmp_path)
    with pytest.raises(DataError, match="damaged table of facts") as error:
        open_table(tmp_path)
    assert error.value.file == str(tmp_path)


def test_a_missing_block_is_noticed(tmp_path: Path) -> None:
    save_table(TABLE, tmp_path)
    for part in ("ids", "rows"):
        (tmp_path / f"arity-2-{part}.npy").unlink()
    with pytest.raises(DataError, match="facts are missing"):
        open_table(tmp_path)


def test_a_missing_folder_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no table of facts"):
        open_table(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"x": [1]}),
        pl.DataFrame({"relation": ["r"], "subject": ["s"], "object": ["o"], "attributes": [["a"]], "values": [["v"]]}),
        pl.DataFrame({"relation": [0], "subject": [0], "object": [0], "attributes": [[1]], "values": [[1]]}),
    ],
    ids=["other columns", "names", "64 bits"],
)
def test_another_parquet_file_is_noticed(tmp_path: Path, frame: pl.DataFrame) -> None:
    frame.write_parquet(tmp_path / "x.parquet")
    with pytest.raises(DataError, match="not a Parquet table of facts"):
        load_table_parquet(tmp_path / "x.parquet")


def test_a_damaged_parquet_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    save_table_parquet(TABLE, path)
    whole = pl.read_parquet(path)
    uneven = pl.Series("values", [[1, 2], [], [0, 1]], dtype=pl.List(pl.Int32))
    for frame in (whole.with_columns(uneven), whole.with_columns(subject=pl.lit(None, pl.Int32))):
        frame.write_parquet(path)
        with pytest.raises(DataError, match="not a Parquet table of facts"):
            load_table_parquet(path)
    for content in (b"", b"PAR1", b"text"):
        path.write_bytes(content)
        with pytest.raises(DataError, match="not a Parquet table of facts"):
            load_table_parquet(path)
    with pytest.raises(DataError, match="not a Parquet table of facts"):
        load_table_parquet(tmp_path / "nowhere.parquet")


@pytest.mark.parametrize(
    "content", ['{"entities": ["a"]', '{"entities": ["a"], "labels": {}}', "[]", "", '{"entities": 1, "relations": 1}']
)
def test_a_damaged_vocabulary_is_noticed(tmp_path: Path, content: str) -> None:
    (tmp_path / "v.json").write_text(content)
    with pytest.raises(DataError, match="damaged vocabulary"):
        load_vocabulary(tmp_path / "v.json")
    with pytest.raises(DataError, match="damaged vocabulary"):
        load_vocabulary(tmp_path / "nowhere.json")
