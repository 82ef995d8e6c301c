"""A hub on loopback: the few endpoints of the Hugging Face Hub that uploading and downloading a model use."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

TOKEN = "hf_test"


@dataclass
class Repository:
    """The files of every commit, and the newest commit."""

    private: bool = False
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    head: str = ""

    def commit(self, files: dict[str, bytes]) -> str:
        files = {**self.commits.get(self.head, {}), **files}
        self.head = hashlib.sha1(repr((self.head, sorted(files.items()))).encode()).hexdigest()
        self.commits[self.head] = files
        return self.head


class Hub:
    """Repositories by name, and the requests that came in."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.requests: list[str] = []
        self.address = ""

    def handle(self, method: str, path: str, token: str | None, body: bytes) -> tuple[int, dict[str, str], bytes]:
        self.requests.append(f"{method} {path}")
        if path == "/api/validate-yaml":
            return _json({"errors": [], "warnings": []})
        if path == "/api/repos/create":
            if token != TOKEN:
                return _json({"error": "Invalid username or password."}, 401)
            asked = json.loads(body)
            name = f"{asked['organization']}/{asked['name']}" if asked.get("organization") else asked["name"]
            if name in self.repositories:
                return _json({"error": "You already created this model repo", "url": f"{self.address}/{name}"}, 409)
            self.repositories[name] = Repository(asked.get("visibility") == "private" or bool(asked.get("private")))
            return _json({"url": f"{self.address}/{name}"})
        if match := re.fullmatch(r"/api/models/([^/]+/[^/]+?)(?:/(revision|preupload|commit)/(\S+))?", path):
            name, action, revision = match[1], match[2], match[3]
        elif match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(\S+)", path):
            name, action, revision = match[1], match[3], match[2]
        else:
            return _json({"error": "Not found"}, 404)
        repository = self.repositories.get(name)
        if repository is None or (repository.private and token != TOKEN):
            return _json({"error": "Repository not found"}, 404 if token else 401, "RepoNotFound")
        return self._of_repository(repository, name, action, unquote(revision or "main"), body)

    def _of_repository(
        self, repository: Repository, name: str, action: str | None, revision: str, body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        if action == "preupload":
            files = [file["path"] for file in json.loads(body)["files"]]
            return _json({"files": [{"path": path, "uploadMode": "regular", "shouldIgnore": False} for path in files]})
        if action == "commit":
            lines = [json.loads(line) for line in body.splitlines()]
            files = {line["value"]["path"]: base64.b64decode(line["value"]["content"]) for line in lines[1:]}
            sha = repository.commit(files)
            return _json({"success": True, "commitOid": sha, "commitUrl": f"{self.address}/{name}/commit/{sha}"})
        sha = repository.head if revision == "main" else revision
        if sha not in repository.commits:
            return _json({"error": "Invalid rev id"}, 404, "RevisionNotFound")
        files = repository.commits[sha]
        if action in (None, "revision"):
            siblings = [{"rfilename": path, "size": len(content)} for path, content in files.items()]
            return _json({"id": name, "sha": sha, "siblings": siblings, "private": repository.private, "tags": []})
        if action not in files:
            return _json({"error": "Entry not found"}, 404, "EntryNotFound")
        etag = hashlib.sha1(files[action]).hexdigest()
        return 200, {"ETag": f'"{etag}"', "X-Repo-Commit": sha}, files[action]


def _json(content: Any, status: int = 200, code: str | None = None) -> tuple[int, dict[str, str], bytes]:
    headers = {"Content-Type": "application/json", **({"X-Error-Code": code} if code else {})}
    return status, headers, json.dumps(content).encode()


@contextmanager
def serving() -> Iterator[Hub]:
    """Serve a hub on a free port."""
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            token = self.headers.get("Authorization", "").removeprefix("Bearer ") or None
            status, headers, content = hub.handle(self.command, urlsplit(self.path).path, token, body)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_HEAD = do_POST = _answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    hub.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
