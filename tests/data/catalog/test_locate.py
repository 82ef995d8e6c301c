"""Finding the files of a dataset, and telling the right ones from others."""

import hashlib
from pathlib import Path

import pytest

from nary.data.catalog import CatalogEntry, FactFile, File, Variant
from nary.data.catalog.locate import cache_home, find, folders, git_blob, locate, sha256
from nary.errors import DatasetError

CONTENT = b"likes\tAda\ttea\n"
SHA = hashlib.sha256(CONTENT).hexdigest()


def fact_file(path: str, sha256: str | None = SHA, address: str | None = None) -> FactFile:
    return FactFile(path=path, split="train", format="tuples", sha256=sha256, address=address)


def made_of(*variants: Variant, labels: File | None = None) -> CatalogEntry:
    return CatalogEntry(
        name="teas", description="", sources=(), license="", citation="", variants=tuple(variants), labels=labels
    )


COMPLETE = Variant(files=(fact_file("a.txt"), fact_file("deep/b.txt")))
PARTIAL = Variant(files=(fact_file("a.txt"), fact_file("../other/c.txt")), complete=False, reason="a part is missing")
TEAS = made_of(COMPLETE, PARTIAL)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NARY_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NARY_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NARY_OFFLINE", "1")
    return tmp_path / "home"


def put(*paths: Path, content: bytes = CONTENT) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def test_checksums_of_known_content(tmp_path: Path) -> None:
    put(tmp_path / "hello", content=b"hello\n")
    assert sha256(tmp_path / "hello") == "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
    assert git_blob(tmp_path / "hello") == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_the_folders(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert folders("teas") == (home / "teas", cache_home() / "data" / "teas")
    monkeypatch.delenv("NARY_DATA_HOME")
    assert folders("teas") == (cache_home() / "data" / "teas",)
    monkeypatch.delenv("NARY_CACHE_HOME")
    assert "nary" in cache_home().parts


def test_the_first_variant_wins_wherever_it_is(home: Path) -> None:
    cached = cache_home() / "data" / "teas"
    put(home / "teas/a.txt", home / "other/c.txt", cached / "a.txt", cached / "deep/b.txt")
    found = locate(TEAS)
    assert (found.variant, found.folder) == (COMPLETE, cached)


def test_the_users_folder_comes_before_the_cache(home: Path) -> None:
    cached = cache_home() / "data" / "teas"
    put(*(folder / path for folder in (home / "teas", cached) for path in ("a.txt", "deep/b.txt")))
    assert locate(TEAS).folder == home / "teas"


def test_a_later_variant_where_the_first_lacks_a_file(home: Path) -> None:
    put(home / "teas/a.txt", home / "other/c.txt")
    found = locate(TEAS)
    assert found.variant == PARTIAL
    assert list(found.files().values()) == [home / "teas/a.txt", home / "other/c.txt"]
    assert found.checksums() == [SHA, SHA]


def test_a_neighbors_file_is_found_beside_a_linked_folder(home: Path, tmp_path: Path) -> None:
    put(tmp_path / "elsewhere/a.txt", home / "other/c.txt")
    (home / "teas").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    assert locate(TEAS).variant == PARTIAL


def test_files_in_two_places_do_not_make_a_dataset(home: Path) -> None:
    put(home / "teas/a.txt", cache_home() / "data/teas/deep/b.txt")
    assert find(TEAS) is None


def test_missing_files_are_named_with_their_places_and_addresses(home: Path) -> None:
    put(home / "teas/a.txt")
    info = made_of(
        Variant(files=(fact_file("a.txt"), fact_file("b.txt", address="https://example.org/b.txt"))), PARTIAL
    )
    with pytest.raises(DatasetError, match="teas are missing, and NARY_OFFLINE is set") as caught:
        locate(info)
    assert caught.value.hint == (
        "Put these files there:\n"
        f"  {home}/teas/b.txt  from https://example.org/b.txt\n"
        "Or these, for an incomplete dataset:\n"
        f"  {home}/other/c.txt"
    )


def test_without_a_folder_of_ones_own_the_cache_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NARY_DATA_HOME")
    with pytest.raises(DatasetError) as caught:
        locate(TEAS)
    assert f"  {cache_home()}/data/teas/deep/b.txt" in str(caught.value.hint)
    assert "set NARY_DATA_HOME" in str(caught.value.hint)


def test_what_nobody_publishes_is_not_downloaded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NARY_OFFLINE", "0")
    with pytest.raises(DatasetError, match="no variant can be downloaded"):
        locate(TEAS)


def test_another_content_is_an_error_that_shows_both_checksums(home: Path) -> None:
    put(home / "teas/a.txt", home / "teas/deep/b.txt")
    put(home / "teas/deep/b.txt", content=b"likes\tAda\tcoffee\n")
    with pytest.raises(DatasetError, match="damaged or another file") as caught:
        locate(TEAS).checksums()
    assert caught.value.file == str(home / "teas/deep/b.txt")
    assert SHA in caught.value.message
    assert hashlib.sha256(b"likes\tAda\tcoffee\n").hexdigest() in caught.value.message
    assert caught.value.hint == "Delete it and get it again."


def test_the_git_blob_id_is_checked_too(home: Path) -> None:
    put(home / "teas/a.txt")
    for blob, sound in ((git_blob(home / "teas/a.txt"), True), ("0" * 40, False)):
        file = FactFile(path="a.txt", split="train", format="tuples", git_blob=blob)
        assert file.verifiable
        found = locate(made_of(Variant(files=(file,))))
        if sound:
            assert found.checksums() == [SHA]
        else:
            with pytest.raises(DatasetError, match="git blob id"):
                found.checksums()


def test_labels_are_optional_and_checked_when_present(home: Path) -> None:
    info = made_of(COMPLETE, labels=File(path="../other/labels.tsv", sha256=SHA))
    put(home / "teas/a.txt", home / "teas/deep/b.txt")
    assert locate(info).labels is None
    assert len(locate(info).checksums()) == 2
    put(home / "other/labels.tsv")
    assert locate(info).labels == home / "other/labels.tsv"
    assert len(locate(info).checksums()) == 3
    put(home / "other/labels.tsv", content=b"Ada\tAda Lovelace\n")
    with pytest.raises(DatasetError, match="damaged or another file"):
        locate(info).checksums()
