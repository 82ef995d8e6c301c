"""The catalog: what stands in it makes sense, and nothing else may stand in it."""

import copy
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from nary.data.catalog import CatalogEntry, File, catalog_entry, dataset_names
from nary.data.catalog.describe import COUNTED
from nary.data.catalog.entries import from_table
from nary.data.dataset import SPLITS
from nary.data.io.formats import FORMATS
from nary.errors import DatasetError

TABLE: dict[str, Any] = {
    "description": "invented",
    "sources": ["nowhere"],
    "license": "CC0",
    "citation": "none",
    "labels": {"path": "labels.tsv"},
    "published": {"source": "a paper", "facts": {"train": 2}, "arities": [2, 3]},
    "variants": [{"files": [{"path": "train.txt", "split": "train", "format": "tuples"}]}],
}


def files(of: CatalogEntry) -> Iterator[File]:
    for variant in of.variants:
        yield from variant.files
    if of.labels:
        yield of.labels


def test_names() -> None:
    assert dataset_names() == (
        *("jf17k", "jf17k-clean", "jf17k-3", "jf17k-4", "wikipeople", "wikipeople-", "wikipeople-3", "wikipeople-4"),
        *("wd50k", "wd50k_33", "wd50k_66", "wd50k_100", "fb-auto", "wd20k100v1", "wd20k100v2", "wp-ind", "nobel"),
    )


def test_an_entry_as_written() -> None:
    found = from_table("invented", TABLE)
    assert found.name == "invented"
    assert found.variants[0].files[0].split == "train"
    assert found.variants[0].complete
    assert not found.variants[0].files[0].verifiable
    assert found.published is not None
    assert found.published.arities == (2, 3)
    assert found.counted is None
    assert found.labels == File(path="labels.tsv")


@pytest.mark.parametrize(
    "where",
    [(), ("labels",), ("published",), ("variants", 0), ("variants", 0, "files", 0)],
    ids=lambda where: "/".join(map(str, where)) or "entry",
)
def test_an_unknown_key_is_refused(where: tuple[str | int, ...]) -> None:
    table = copy.deepcopy(TABLE)
    inner: Any = table
    for step in where:
        inner = inner[step]
    inner["spilt"] = "train"
    with pytest.raises(TypeError, match="spilt"):
        from_table("invented", table)


def test_a_missing_key_is_refused() -> None:
    with pytest.raises(TypeError, match="license"):
        from_table("invented", {key: value for key, value in TABLE.items() if key != "license"})


@pytest.mark.parametrize(("name", "near"), [("jf17", "jf17k"), ("JF17K", "jf17k"), ("wikipeople3", "wikipeople-3")])
def test_an_unknown_name_gets_the_nearest(name: str, near: str) -> None:
    with pytest.raises(DatasetError, match=re.escape(repr(name))) as caught:
        catalog_entry(name)
    assert near in str(caught.value.hint)


@pytest.mark.parametrize("name", dataset_names())
def test_every_entry_makes_sense(name: str) -> None:
    found = catalog_entry(name)
    assert found.description
    assert found.sources
    assert found.license
    assert found.citation
    assert all(variant.complete == (not variant.reason) for variant in found.variants)
    assert all(variant.restore_from in (None, *dataset_names()) for variant in found.variants)
    for variant in found.variants:
        assert {file.split for file in variant.files} <= set(SPLITS)
        assert {file.format for file in variant.files} <= set(FORMATS)
    for given in (found.published, found.counted):
        assert given is None or set(given.facts) <= set(SPLITS)
        assert given is None or set(given.why) <= set(COUNTED)
    assert found.published is None or found.published.source


@pytest.mark.parametrize("name", dataset_names())
def test_every_file_has_a_sound_checksum_and_address(name: str) -> None:
    for file in files(catalog_entry(name)):
        assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert file.git_blob is None or re.fullmatch("[0-9a-f]{40}", file.git_blob)
        if file.address:
            parts = urlsplit(file.address)
            assert (parts.scheme, parts.netloc) == ("https", "raw.githubusercontent.com")
            assert " " not in file.address
            assert PurePosixPath(unquote(parts.path)).name == PurePosixPath(file.path).name
            assert re.fullmatch("[0-9a-f]{8}|[0-9a-f]{40}", parts.path.split("/")[3]), "a commit, not a branch"


def test_a_file_used_by_several_datasets_has_one_checksum() -> None:
    checksums: dict[str, set[str | None]] = {}
    for name in dataset_names():
        for file in files(catalog_entry(name)):
            path = file.path.removeprefix("../") if file.path.startswith("../") else f"{name}/{file.path}"
            checksums.setdefault(path, set()).add(file.sha256)
    assert {path: found for path, found in checksums.items() if len(found) > 1} == {}
    assert "wikipeople-/train.txt" in checksums


def test_wikipeople_prefers_the_complete_files() -> None:
    complete, partial = catalog_entry("wikipeople").variants
    assert complete.complete
    assert not partial.complete
    assert "11,286" in partial.reason
    assert partial.files[0].first_lines == 258_893


def test_only_the_embedded_dataset_has_no_files() -> None:
    assert [name for name in dataset_names() if not catalog_entry(name).variants] == ["nobel"]
