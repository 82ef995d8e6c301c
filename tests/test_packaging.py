"""What is shipped: the wheel, the image of the server, and the files that say what the project is."""

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml
from typer.main import get_command

from nary.apps.cli.main import app
from nary.version import __version__

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DOCKERFILE = (ROOT / "Dockerfile").read_text().replace("\\\n", "")
EXTRAS = set(PROJECT["optional-dependencies"])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=ROOT, check=True)
    (path,) = folder.iterdir()
    return zipfile.ZipFile(path)


def test_the_wheel_has_the_package_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    source = ROOT / "src"
    files = {path.relative_to(source).as_posix() for path in (source / "nary").rglob("*") if path.is_file()}
    expected = {name for name in files if "__pycache__" not in name}
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert packed == expected
    assert {"nary/py.typed", "nary/apps/page/index.html", "nary/recipes/gran/nobel.toml"} <= packed
    assert {Path(name).suffix for name in packed} <= {
        ".py",
        ".typed",
        ".toml",
        ".tsv",
        ".md",
        ".html",
        ".css",
        ".js",
        ".svg",
    }


def test_the_wheel_says_what_it_is(wheel: zipfile.ZipFile) -> None:
    information = f"nary-{__version__}.dist-info"
    metadata = Parser().parsestr(wheel.read(f"{information}/METADATA").decode())
    assert metadata["Version"] == __version__
    assert metadata["License-Expression"] == "Apache-2.0"
    assert f"{information}/licenses/LICENSE" in wheel.namelist()
    assert set(metadata.get_all("Provides-Extra")) == EXTRAS
    assert wheel.read(f"{information}/entry_points.txt").decode().split() == [
        "[console_scripts]", "nary", "=", "nary.apps.cli.main:main"
    ]  # fmt: skip


def test_what_the_image_copies_exists_and_is_not_ignored() -> None:
    ignored = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    kept = [line[1:] for line in ignored if line[0] == "!"]
    copied = [
        path for line in re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE, re.MULTILINE) for path in line.split()[:-1]
    ]
    assert copied
    for path in copied:
        assert (ROOT / path).exists()
        assert any(fnmatch(path, pattern) for pattern in kept)
    for path in (PROJECT["readme"], *PROJECT["license-files"], "pyproject.toml"):
        assert path in copied  # the wheel cannot be built without them


def test_the_image_installs_what_the_project_needs() -> None:
    (torch,) = (one for one in PROJECT["dependencies"] if one.startswith("torch"))
    assert f"'{torch}'" in DOCKERFILE
    (extras,) = re.findall(r"\.whl\)\[([\w,]+)\]", DOCKERFILE)
    assert set(extras.split(",")) <= EXTRAS


def test_the_image_runs_a_command_that_exists_and_not_as_root() -> None:
    program, command, *options = json.loads(re.search(r"^ENTRYPOINT (.*)$", DOCKERFILE, re.MULTILINE)[1])  # type: ignore[index]
    serve = get_command(app).commands[command]  # type: ignore[attr-defined]
    known = {name for parameter in serve.params for name in parameter.opts}
    assert program in PROJECT["scripts"]
    assert {option for option in options if option.startswith("--")} <= known
    (port,) = (parameter.default for parameter in serve.params if parameter.name == "port")
    assert f"EXPOSE {port}\n" in DOCKERFILE
    assert f"127.0.0.1:{port}/health" in DOCKERFILE
    assert re.findall(r"^USER (\w+)$", DOCKERFILE, re.MULTILINE)[-1] != "root"
    assert DOCKERFILE.index("\nUSER") < DOCKERFILE.index("\nENTRYPOINT")


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (503, False)])
def test_the_image_knows_whether_it_is_healthy(status: int, healthy: bool) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/health" else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    _, *arguments = json.loads(re.search(r"CMD (\[.*urlopen.*\])$", DOCKERFILE, re.MULTILINE)[1])  # type: ignore[index]
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.handle_request)
        thread.start()
        here = [argument.replace(":8000", f":{server.server_port}") for argument in arguments]
        done = subprocess.run([sys.executable, *here], capture_output=True, timeout=60)
        thread.join()
    assert (done.returncode == 0) is healthy


def test_the_citation_and_the_templates_of_issues_are_valid() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]
    for path in (ROOT / ".github" / "ISSUE_TEMPLATE").iterdir():
        template = yaml.safe_load(path.read_text())
        if path.name != "config.yml":
            assert {"name", "description", "body"} <= set(template)
            ids = [part["id"] for part in template["body"] if "id" in part]
            assert len(ids) == len(set(ids)) > 0


def test_every_extra_is_explained() -> None:
    page = (ROOT / "docs" / "installing.md").read_text()
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == EXTRAS


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_complete_commands(shell: str) -> None:
    environment = {"_NARY_COMPLETE": f"complete_{shell}", "COMP_WORDS": "nary pre", "COMP_CWORD": "1"}
    environment |= {"_TYPER_COMPLETE_ARGS": "nary pre", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    code = "from nary.apps.cli.main import main; main()"
    command = [sys.executable, "-c", f"import sys; sys.argv[0] = 'nary'; {code}"]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60)
    assert "predict" in done.stdout, done.stderr
