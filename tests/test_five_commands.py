"""Run docs/five-commands.md, from an empty folder to a running service."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from apps.server.running import client_of, nary_process

PAGE = Path(__file__).parent.parent / "docs" / "five-commands.md"


def test_the_commands_of_the_page_run(tmp_path: Path, monkeypatch) -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    *before, serve, curl = blocks
    assert [block.split()[:2] for block in before[1:]] == [
        ["nary", command] for command in ("check", "train", "evaluate", "predict")
    ]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for block in before:
        done = subprocess.run(
            ["bash", "-euc", block], cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    assert "Neptune" in done.stdout  # which a model that has learned anything knows

    monkeypatch.chdir(tmp_path)
    address, body = re.fullmatch(r"curl http://127.0.0.1:8000(\S+) -H '[^']*' -d '(.*)'\n", curl).groups()
    with nary_process(*serve.split()[1:], "--port", 0) as process, client_of(process) as served:
        answer = served.post(address, **json.loads(body))
        assert answer.status_code == 200
        assert len(answer.json()["answers"]) == 3
        assert served.stop() == 0
