"""Small files that stand for large ones, and files that never end, are refused before they take memory or time."""

import bz2
import gzip
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import zstandard
from hardening.measuring import measure
from runs.small import small_run

from nary.config import read_toml
from nary.data import unpacking
from nary.data.files import MAX_LINES, Source
from nary.data.io.reader import read
from nary.errors import DataError, NaryError, SettingError
from nary.facts.parquet_footer import check_parquet_size, parquet_size
from nary.facts.storage import load_table_parquet, save_table_parquet
from nary.files.manifest import MANIFEST, IntegrityError, write_manifest
from nary.inference.folder import ModelFolderError
from nary.runs import TrainedModel, load_model

MEBIBYTE = 1 << 20
FACT = b'{"subject": "Ada", "relation": "likes", "object": "Ben", "qualifiers": []}\n'
PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": lambda data: zstandard.compress(data, 19),
}


@pytest.mark.parametrize(("suffix", "line"), [(".zst", b"\n"), (".gz", FACT), (".bz2", b"\0")])
def test_decompression_bombs(tmp_path: Path, suffix: str, line: bytes) -> None:
    """Five gigabytes in a small file: packed parts may be put one after the other."""
    path = tmp_path / f"facts.jsonl{suffix}"
    path.write_bytes(PACK[suffix](line * (16 * MEBIBYTE // len(line))) * 320)
    code, _, err, peak = measure("stats", path)
    assert code == 2
    assert "which facts never do" in err or "a line of more than" in err
    assert peak < 500


@pytest.mark.parametrize("suffix", PACK)
def test_decompression_bombs_in_one_piece(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No piece is much larger than another, whatever the ratio, and the limit can be raised."""
    path = tmp_path / f"facts.jsonl{suffix}"
    path.write_bytes(PACK[suffix](bytes(200 * MEBIBYTE)))

    def sizes() -> list[int]:
        with Source(path) as source:
            return [len(piece) for piece in source.pieces()]

    with pytest.raises(DataError, match="which facts never do") as caught:
        sizes()
    assert "NARY_UNPACK_LIMIT" in str(caught.value.hint)
    monkeypatch.setenv(unpacking.LIMIT_VARIABLE, str(200 * MEBIBYTE))
    assert max(sizes()) < 40 * MEBIBYTE
    assert sum(sizes()) == 200 * MEBIBYTE
    monkeypatch.setenv(unpacking.LIMIT_VARIABLE, "5G")
    with pytest.raises(SettingError, match="NARY_UNPACK_LIMIT is '5G'"):
        sizes()


def test_decompression_bombs_of_short_lines(tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"
    path.write_bytes(b"\n" * 200_000 + FACT)
    with Source(path) as source:
        chunks = list(source.chunks())
    assert [chunk.count(b"\n") + 1 for chunk in chunks] == [MAX_LINES] * 3 + [200_001 - 3 * MAX_LINES]
    assert b"\n".join(chunks) + b"\n" == path.read_bytes()
    assert len(read(path).train) == 1


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    return small_run(tmp_path_factory.mktemp("trained") / "run", training__epochs=1)


@pytest.fixture
def model(trained: TrainedModel, tmp_path: Path) -> Path:
    trained.save(tmp_path / "model")
    return tmp_path / "model"


def test_bombs_in_model_folders(model: Path) -> None:
    path = model / "facts" / "train.parquet"
    columns = {name: pl.repeat(0, 20_000_000, dtype=pl.Int32, eager=True) for name in ("relation", "subject", "object")}
    pl.DataFrame(columns).write_parquet(path)
    assert path.stat().st_size < MEBIBYTE
    write_manifest(model)
    code, _, err, peak = measure("predict", model, "a | b | ?")
    assert code == 2
    assert "that stand for 60,000,000 values, which facts never do" in err
    assert peak < 700  # most of it is torch


def test_bombs_in_data_files(tmp_path: Path) -> None:
    path = tmp_path / "facts.parquet"
    columns = {name: pl.repeat("x", 20_000_000, dtype=pl.String, eager=True) for name in ("subject", "relation")}
    pl.DataFrame(columns).write_parquet(path)
    code, _, err, peak = measure("stats", path)
    assert (code, "which facts never do" in err) == (2, True)
    assert peak < 500


def test_bombs_in_one_list(tmp_path: Path) -> None:
    path = tmp_path / "facts.parquet"
    pl.DataFrame({"values": pl.Series([[0] * 10_000_000], dtype=pl.List(pl.Int32))}).write_parquet(path)
    assert parquet_size(path).num_values == 10_000_000
    with pytest.raises(ValueError, match="which facts never do"):
        check_parquet_size(path)


def test_facts_are_no_bomb(trained: TrainedModel, tmp_path: Path) -> None:
    path = tmp_path / "facts.parquet"
    for table in trained.dataset.splits.values():
        save_table_parquet(table, path)
        assert load_table_parquet(path) == table
        elements = sum(2 * block.arity - 1 for block in table.blocks for _ in block.rows)
        assert parquet_size(path).num_values >= elements
    content = path.read_bytes()
    for size in range(37, len(content), 37):  # footers that are cut off
        path.write_bytes(content[-size:])
        with pytest.raises(DataError):
            load_table_parquet(path)


@pytest.mark.parametrize(
    "name", ["config.json", "vocabulary.json", "metrics.json", "model.safetensors", "manifest.json"]
)
@pytest.mark.parametrize("kind", ["pipe", "/dev/zero", "/dev/urandom", "folder"])
def test_bombs_in_model_folders_that_never_end(model: Path, name: str, kind: str) -> None:
    path = model / name
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(kind)
    for verify in (True, False):
        if name == MANIFEST and not verify:
            continue
        with pytest.raises((ModelFolderError, IntegrityError)):
            load_model(model, verify=verify)


def test_bombs_in_model_folders_with_holes(model: Path) -> None:
    """A file of terabytes that takes no room on the disk."""
    for name in ("vocabulary.json", "metrics.json", "facts/train.parquet"):
        content = (model / name).read_bytes()
        with (model / name).open("ab") as file:
            file.truncate(1 << 42)
        with pytest.raises(NaryError):
            load_model(model, verify=False)
        (model / name).write_bytes(content)
    load_model(model)


def test_links_to_files_are_followed(model: Path, tmp_path: Path) -> None:
    for name in ("vocabulary.json", "model.safetensors"):
        (model / name).rename(tmp_path / name)
        (model / name).symlink_to(tmp_path / name)
    load_model(model)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/full"])
def test_stats_on_an_endless_device(device: str) -> None:
    for on_error in ("stop", "skip"):
        with pytest.raises(DataError, match="is a device, but a file is needed"):
            read(device, on_error=on_error)


def test_recipes_that_never_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "recipe.toml")
    with pytest.raises(SettingError, match="not a regular file"):
        read_toml(tmp_path / "recipe.toml")


def test_pipes_of_facts_are_read(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "wb") as file:
        file.write(FACT)
    try:
        assert len(read(f"/dev/fd/{read_end}").train) == 1
    finally:
        os.close(read_end)


@pytest.mark.parametrize(
    "footer",
    [
        b"\x49\x03\x00",  # the row groups are a list that ends too early
        b"\x45\x02\x00",  # a number
        b"\x48\x00\x00",  # bytes
        b"\x49\x15\x02\x00",  # a list of numbers
        b"\x4c\x00\x00",  # a structure
        b"\x19\xf1\xff\x7f\x00",  # a list of very many truths, which take no room if they are not counted as bytes
    ],
)
def test_bombs_in_damaged_footers(footer: bytes, tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    path.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(NaryError):
        read(path)
