"""Models on a hub that runs here: the real client uploads and downloads them."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from apps.command import Nary
from runs.hub import TOKEN, Hub, serving
from runs.small import NARY, PATIENCE, small_run

import nary as library
from nary.errors import NaryError
from nary.files.manifest import IntegrityError
from nary.runs.hub import HubAddress, HubError, download, is_hub_address

pytest_plugins = ["apps.conftest"]

constants = pytest.importorskip("huggingface_hub.constants")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pushed") / "run"
    small_run(folder, training__epochs=1)
    return folder


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serving() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        monkeypatch.delenv("NARY_OFFLINE", raising=False)
        yield hub


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hf://ada/moons", HubAddress("ada/moons")),
        ("hf://ada/moons@v1", HubAddress("ada/moons", "v1")),
        ("hf://ada/moons.2@feature/x", HubAddress("ada/moons.2", "feature/x")),
        (str(Path("hf://ada/moons@v1")), HubAddress("ada/moons", "v1")),
    ],
)
def test_an_address_is_a_repository_and_perhaps_a_revision(text: str, expected: HubAddress) -> None:
    assert is_hub_address(text)
    assert HubAddress.parse(text) == expected
    assert HubAddress.parse(str(expected)) == expected


@pytest.mark.parametrize("text", ["hf://ada", "hf://", "hf://ada/moons/x", "hf://ada/moons@", "hf://a b/c"])
def test_anything_else_is_no_address(text: str) -> None:
    with pytest.raises(HubError, match="is no address"):
        HubAddress.parse(text)
    assert not is_hub_address(f"./{text}")


def test_a_pushed_model_is_the_same_when_it_is_loaded(hub: Hub, run: Path) -> None:
    address = library.push(run, "ada/moons")
    assert address == f"hf://ada/moons@{hub.repositories['ada/moons'].head}"
    assert hub.repositories["ada/moons"].private
    fact = next(library.load_model(run).dataset.test.facts(library.load_model(run).vocabulary))
    query = fact.query(library.Position.parse("object"))
    assert library.load_model("hf://ada/moons").predict(query) == library.load_model(run).predict(query)


def test_a_revision_stays_what_it_was(hub: Hub, run: Path, tmp_path: Path) -> None:
    first = library.push(run, "ada/moons", public=True)
    assert not hub.repositories["ada/moons"].private
    small_run(tmp_path / "other", "frequency")
    library.push(tmp_path / "other", "ada/moons")
    assert library.load_model(first).name == "gran"
    assert library.load_model("hf://ada/moons").name == "frequency"


def test_only_listed_files_are_downloaded_and_only_once(hub: Hub, run: Path) -> None:
    library.push(run, "ada/moons")
    hub.repositories["ada/moons"].commit({"weights.pkl": b"cos\nsystem\n", ".gitattributes": b""})
    folder = download("hf://ada/moons")
    assert {path.name for path in folder.iterdir()} == {path.name for path in (run / "model").iterdir()}
    hub.requests.clear()
    download("hf://ada/moons")
    assert not any(request.startswith("GET") and "/resolve/" in request for request in hub.requests)


def test_a_file_of_another_size_is_not_downloaded(hub: Hub, run: Path) -> None:
    library.push(run, "ada/moons")
    hub.repositories["ada/moons"].commit({"model.safetensors": b"x" * 10_000_000})
    with pytest.raises(IntegrityError, match="it has 10,000,000 bytes") as caught:
        library.load_model("hf://ada/moons")
    assert caught.value.file == "hf://ada/moons/model.safetensors"
    assert not any(request.endswith("model.safetensors") for request in hub.requests)


def test_another_content_of_the_same_size_is_noticed(hub: Hub, run: Path) -> None:
    library.push(run, "ada/moons")
    content = (run / "model" / "facts" / "train.parquet").read_bytes()
    hub.repositories["ada/moons"].commit({"facts/train.parquet": bytes(len(content))})
    with pytest.raises(IntegrityError, match="changed since it was written"):
        download("hf://ada/moons")


def test_a_manifest_cannot_name_files_elsewhere(hub: Hub, run: Path) -> None:
    library.push(run, "ada/moons")
    entries = {"format": 1, "files": {"../../../stolen": {"size": 1, "sha256": "0" * 64}}}
    hub.repositories["ada/moons"].commit({"manifest.json": json.dumps(entries).encode()})
    with pytest.raises(IntegrityError, match="outside of its folder"):
        download("hf://ada/moons")


def test_what_is_cached_works_without_a_connection(hub: Hub, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library.push(run, "ada/moons")
    folder = download("hf://ada/moons")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert download("hf://ada/moons") == folder
    with pytest.raises(HubError, match=r"not in the cache, and http://127.0.0.1:9 cannot be reached"):
        download("hf://ada/sun")
    monkeypatch.setenv("NARY_OFFLINE", "1")
    assert download("hf://ada/moons") == folder
    with pytest.raises(HubError, match="not in the cache"):
        download("hf://ada/sun")


def test_errors_say_what_to_do(hub: Hub, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def error_of(address: str) -> NaryError:
        with pytest.raises(HubError) as caught:
            download(address)
        return caught.value

    library.push(run, "ada/secret")
    hub.repositories["ada/other"] = hub.repositories["ada/secret"].__class__()
    hub.repositories["ada/other"].commit({"weights.pkl": b""})
    assert error_of("hf://ada/nothing").message == "there is no model hf://ada/nothing, or it is private"
    assert error_of("hf://ada/secret@v9").message == "hf://ada/secret has no revision 'v9'"
    assert error_of("hf://ada/other").message == "hf://ada/other is no model of Nary: it has no manifest.json"
    assert "is no name of a repository" in error_of("hf://ada/..").message
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", "/nonexistent")
    assert "HF_TOKEN" in str(error_of("hf://ada/secret").hint)
    with pytest.raises(HubError, match="needs a token"):
        library.push(run, "ada/mine")
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    with pytest.raises(HubError, match="Invalid username or password"):
        library.push(run, "ada/mine")


def test_a_damaged_or_unfinished_model_is_not_pushed(hub: Hub, run: Path, tmp_path: Path) -> None:
    library.load_model(run).save(tmp_path / "model")
    (tmp_path / "model" / "vocabulary.json").write_text("{}")
    with pytest.raises(IntegrityError):
        library.push(tmp_path / "model", "ada/moons")
    with pytest.raises(NaryError, match=r"config\.json"):
        library.push(tmp_path, "ada/moons")
    assert hub.requests == []


def test_the_extra_is_named_if_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(NaryError, match="optional dependency") as caught:
        library.load_model("hf://ada/moons")
    assert "nary[hub]" in str(caught.value.hint)


def test_commands_take_addresses(hub: Hub, run: Path, nary: Nary) -> None:
    pushed = nary("push", run, "ada/moons", "--json").json["address"]
    assert nary("evaluate", "hf://ada/moons", "--json").json["split"] == "test"
    fact = str(next(library.load_model(run).dataset.train.facts(library.load_model(run).vocabulary)))
    assert nary("facts", pushed, fact, "--json").json["total"] == 1
    assert nary("predict", "hf://ada/sun", fact, "--json").error["kind"] == "hub"
    assert nary("push", run, "moons").code == 2


def test_a_process_of_its_own_downloads_from_the_endpoint(hub: Hub, run: Path, tmp_path: Path) -> None:
    library.push(run, "ada/moons")
    name = library.load_model(run).vocabulary.entities[0]
    environment = {**os.environ, "HF_HOME": str(tmp_path / "home")}
    command = [*NARY, "similar", "hf://ada/moons", name, "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert json.loads(done.stdout)["name"] == name
