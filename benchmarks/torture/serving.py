"""A server between ordinary requests, nonsense and slow clients: no answer of 500, no traceback, no growing memory."""

import http.client
import random
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from hardening.slow_clients import PARTS, close_all, connect
from torture.common import OPTIONS, PATIENCE, Command, Group, mutate, timed

_CLIENTS = 8
_FINE = {200, 400, 404, 405, 408, 413, 422, 503, 504}
_BODIES = (
    ("/api/predict", {"fact": "entity 000001 | relation 01 | ?", "k": 3}),
    ("/api/score", {"fact": "entity 000001 | relation 01 | entity 000002"}),
    ("/api/suggest", {"fact": "entity 000001 | relation 01 | entity 000002"}),
    ("/api/explain", {"fact": "entity 000001 | relation 01 | entity 000002", "position": "object"}),
    ("/api/facts", {"fact": "entity 000001 | ? | ?"}),
    ("/api/graph", {"fact": "a | b | ? | c: d"}),
)


def served_requests(folder: Path, requests: int, slow: int, chance: random.Random) -> list[Group]:
    """Send ``requests``, half of them mutated, while ``slow`` clients hold connections."""
    facts, run = folder / "facts.jsonl", folder / "run"
    timed("generate", facts, "--facts", 200, "--entities", 40)
    timed("train", facts, *OPTIONS, "--set", "training.epochs=2", "--out", run)
    server = Command("serve", run, "--port", "0", "--timeout", "5")
    url = _address(server)
    port = int(url.rstrip("/").rpartition(":")[2])
    answered = Group("requests", "an answer that the API describes, never 500")
    memory = Group("memory of the server", "within 20% of before")
    _send(port, [chance.getrandbits(32) for _ in range(300)])  # what it needs anyway
    before = _memory(server)
    crowd = [connect(url, chance.choice(list(PARTS.values()))) for _ in range(slow)]
    for failure in _send(port, [chance.getrandbits(32) for _ in range(requests)]):
        answered.count(failure)
    close_all(crowd)
    time.sleep(1)
    after = _memory(server)
    memory.note = f"{before:.0f} MB before, {after:.0f} MB after {requests:,} requests and {slow} slow clients"
    memory.count(None if after < 1.2 * before else memory.note)
    stopped = Group("end of the server", "SIGTERM, exit code 0, no traceback in the log")
    log = server.log()
    server.process.terminate()
    ended = server.end()
    stopped.count("a traceback in the log" if "Traceback" in log else None if ended.code == 0 else f"code {ended.code}")
    return [answered, memory, stopped]


def _address(server: Command) -> str:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and server.process.is_alive():
        if address := re.search(r"http://\S+", server.log()):
            return address[0]
        time.sleep(0.05)
    raise SystemExit(f"the server does not start: {server.log()}")


def _memory(server: Command) -> float:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]


def _send(port: int, seeds: list[int]) -> list[str | None]:
    with ThreadPoolExecutor(_CLIENTS) as clients:
        parts = clients.map(lambda i: _client(port, seeds[i::_CLIENTS]), range(_CLIENTS))
        return [failure for part in parts for failure in part]


def _client(port: int, seeds: list[int]) -> list[str | None]:
    failures = []
    for seed in seeds:
        chance = random.Random(seed)
        path, content = chance.choice(_BODIES)
        body = orjson.dumps(content)
        body = body if chance.random() < 0.5 else mutate(body, chance)
        failures.append(_ask(port, path, body, seed))
    return failures


def _ask(port: int, path: str, body: bytes, seed: int) -> str | None:
    for _ in range(100):  # 503 asks to come back
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
        except OSError:  # refused without a word, as one of very many
            time.sleep(0.1)
            continue
        finally:
            connection.close()
        if answer.status != 503:
            return None if answer.status in _FINE else f"seed {seed}: {path} answers {answer.status}"
        time.sleep(0.1)
    return f"seed {seed}: {path} is never answered"
