"""Who may ask, and what is said before serving when something is wrong."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from apps.command import Nary
from apps.server.running import Served, serving

from nary.apps.server.guard import is_loopback
from nary.apps.server.options import ServeOptions
from nary.errors import SettingError

TOKEN = "open-sesame"


@pytest.fixture(scope="module")
def guarded(nobel_folder: Path) -> Iterator[Served]:
    """A server with a token, and so little time that no work of the model is ever done."""
    with serving(nobel_folder, "--timeout", "0.000001", token=TOKEN, NARY_TOKEN=TOKEN) as running:
        yield running


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer wrong", f"bearer{TOKEN}", TOKEN, f"Basic {TOKEN}"])
def test_without_the_token_the_api_is_closed(guarded: Served, header: str | None) -> None:
    headers = {"Authorization": header} if header is not None else {}
    with httpx.Client(base_url=guarded.url, headers=headers) as client:
        for path in ("/api/model", "/api/search?q=a", "/api/nothing"):
            answer = client.get(path)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
            assert answer.json()["error"]["kind"] == "token"
        assert client.post("/api/predict", content=b"x" * (2 << 20)).status_code == 401


def test_page_and_health_are_open(guarded: Served) -> None:
    for path in ("/", "/health", "/openapi.json", "/docs"):
        assert httpx.get(guarded.url.rstrip("/") + path).status_code == 200


def test_with_the_token_it_is_open(guarded: Served) -> None:
    assert guarded.get("/api/model").json()["name"] == "gran"
    foreign = guarded.client.get("/api/model", headers={"Host": "nary.example"})
    assert foreign.status_code == 200  # whoever has the token may come through a proxy


def test_an_answer_that_takes_too_long(guarded: Served) -> None:
    answer = guarded.post("/api/predict", fact="Marie Curie | award received | ?")
    assert answer.status_code == 504
    assert answer.json()["error"]["kind"] == "timeout"


def test_without_a_token_only_this_machine_is_answered(served: Served) -> None:
    assert served.client.get("/api/model", headers={"Host": "localhost:8000"}).status_code == 200
    assert served.client.get("/api/model", headers={"Host": "[::1]:8000"}).status_code == 200
    for host in ("nary.example", "127.0.0.1.nary.example", "localhost.nary.example:80"):
        answer = served.client.get("/api/model", headers={"Host": host})
        assert answer.status_code == 400
        assert answer.json()["error"]["kind"] == "host"


def test_no_page_of_another_server_may_read_answers(served: Served) -> None:
    answer = served.client.get("/api/model", headers={"Origin": "http://nary.example"})
    assert not [name for name in answer.headers if name.startswith("access-control")]
    asked = served.client.options("/api/predict", headers={"Origin": "http://nary.example"})
    assert asked.status_code == 405


@pytest.mark.parametrize(
    ("host", "answer"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)],
)
def test_loopback(host: str, answer: bool) -> None:
    assert is_loopback(host) is answer


def test_options_that_are_refused() -> None:
    with pytest.raises(SettingError, match="there is no token"):
        ServeOptions(host="0.0.0.0")
    ServeOptions(host="0.0.0.0", token=TOKEN)
    ServeOptions(host="0.0.0.0", insecure=True)
    for token in ("", " ", "clé", "a\nb"):
        with pytest.raises(SettingError, match="token"):
            ServeOptions(token=token)


def test_without_the_extra_it_says_what_to_install(
    nary: Nary, nobel_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fastapi", None)
    outcome = nary("serve", nobel_folder)
    assert outcome.code == 2
    assert "nary[serve]" in outcome.err


def test_mistakes_are_said_before_serving(nary: Nary, nobel_folder: Path, tmp_path: Path) -> None:
    outcome = nary("serve", nobel_folder, "--host", "0.0.0.0")
    assert outcome.code == 2
    assert "--insecure" in outcome.err
    assert nary("serve", tmp_path, "--port", 0).code == 2
    assert nary("serve", nobel_folder, "--port", 70000).code == 2
    for timeout in ("0", "inf", "nan"):
        assert nary("serve", nobel_folder, "--timeout", timeout).code == 2
    assert "'a..b' is no name of a host" in nary("serve", nobel_folder, "--host", "a..b", "--insecure").err
    outcome = nary("serve", nobel_folder, "--host", "no such host", "--insecure")
    assert outcome.code == 2
    assert "no such host" in outcome.err
    with socket.create_server(("127.0.0.1", 0)) as other:
        outcome = nary("serve", nobel_folder, "--port", other.getsockname()[1])
    assert outcome.code == 2
    assert "choose another --port" in outcome.err
    assert outcome.out == ""
    assert nary("serve", tmp_path, "--port", 0, "--json").error["kind"] == "model"
