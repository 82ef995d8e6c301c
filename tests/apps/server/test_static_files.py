"""The explorer page comes as it is in its folder, and nothing else of the disk does."""

from importlib.resources import files

import pytest
from apps.server.running import Served

TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}


def test_every_file_of_the_page(served: Served) -> None:
    served_files = [file for file in files("nary.apps").joinpath("page").iterdir() if file.name[0] not in "._"]
    assert "index.html" in {file.name for file in served_files}
    for file in served_files:
        answer = served.get("/" if file.name == "index.html" else f"/{file.name}")
        assert answer.content == file.read_bytes()
        assert answer.headers["content-type"].split(";")[0] == TYPES[file.name.rpartition(".")[2]]
        assert answer.headers["content-security-policy"].startswith("default-src 'self';")
        assert answer.headers["cache-control"] == "no-cache"


def test_an_unchanged_file_is_not_sent_again(served: Served) -> None:
    tag = served.get("/").headers["etag"]
    again = served.client.get("/", headers={"If-None-Match": tag})
    assert again.status_code == 304
    assert again.content == b""
    assert served.client.head("/").headers["etag"] == tag


@pytest.mark.parametrize(
    "path", ["/../cli/main.py", "/..%2fcli%2fmain.py", "/%2e%2e/cli/main.py", "//etc/passwd", "/index.html/x", "/%00"]
)
def test_nothing_else_is_reachable(served: Served, path: str) -> None:
    assert served.client.get(served.url.rstrip("/") + path).status_code == 404
