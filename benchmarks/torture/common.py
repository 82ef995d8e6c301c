"""What all groups of cases share: commands as processes that can be killed, and counts of what held."""

import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE = 300
"""Seconds after which a process counts as hanging."""
SMALL = {
    "model.num_layers": 1,
    "model.num_heads": 2,
    "model.hidden_dim": 16,
    "model.ffn_dim": 16,
    "training.epochs": 20,
    "training.batch_size": 64,
    "training.precision": "fp32",
    "training.checkpoint_minutes": 0.002,
}
"""A model that trains in seconds and saves many times meanwhile."""
OPTIONS = ["--model", "gran", *(part for key, value in SMALL.items() for part in ("--set", f"{key}={value}"))]

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["nary.apps.cli.main", "nary.runs", "nary.apps.plots", "nary.data.load"])


@dataclass
class Group:
    """A kind of cases: how many were tried, and what went wrong in those that did not hold."""

    name: str
    promise: str
    tried: int = 0
    failures: list[str] = field(default_factory=list)
    note: str = ""

    def count(self, failure: str | None) -> None:
        """Count a case; ``failure`` says what went wrong."""
        self.tried += 1
        if failure is not None:
            self.failures.append(failure)
            print(f"  FAILED {self.name}: {failure}", flush=True)


@dataclass
class Ended:
    """How a command ended: its exit code, negative for a signal, None if it hung; and what it said."""

    code: int | None
    err: str

    @property
    def complaint(self) -> str | None:
        """What is wrong with any command, whatever it was asked."""
        if self.code is None:
            return "it hangs"
        if "Traceback" in self.err or "panicked" in self.err:
            return f"a traceback: {self.err.strip().splitlines()[-1][:200]}"
        return None if self.code in (0, 1, 2) else f"exit code {self.code}"


class Command:
    """``nary`` with these arguments, started."""

    def __init__(self, *arguments: object) -> None:
        descriptor, self._log = tempfile.mkstemp()
        os.close(descriptor)
        self.process = _processes.Process(target=_run, args=([str(each) for each in arguments], self._log))
        self.process.start()

    def kill_after(self, seconds: float) -> bool:
        """Kill it at that time, unless it has ended; whether it was killed."""
        self.process.join(seconds)
        killed = self.process.is_alive()
        self.process.kill()
        self.end()
        return killed

    def end(self, patience: float = PATIENCE) -> Ended:
        """Wait for its end."""
        self.process.join(patience)
        code = self.process.exitcode
        self.process.kill()
        self.process.join()
        err = Path(self._log).read_text(errors="replace") if Path(self._log).exists() else ""
        Path(self._log).unlink(missing_ok=True)
        return Ended(code, err)

    def log(self) -> str:
        """What it has written so far."""
        return Path(self._log).read_text(errors="replace")


def nary(*arguments: object) -> Ended:
    """Run ``nary`` to its end."""
    return Command(*arguments).end()


def timed(*arguments: object) -> float:
    """The seconds that a command takes, which must succeed."""
    started = time.monotonic()
    ended = nary(*arguments)
    assert ended.code == 0, ended.err
    return time.monotonic() - started


def apart(function: Any, *arguments: object) -> Any:
    """The result of ``function`` in a process of its own, or a text that says how that died."""
    receiver, sender = _processes.Pipe(duplex=False)
    process = _processes.Process(target=_answer, args=(sender, function, arguments))
    process.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(PATIENCE) else "it hangs"
    except EOFError:
        process.join()
        return f"the process ended with code {process.exitcode}"
    finally:
        process.kill()
        process.join()


def content(folder: Path, *, without: Sequence[str] = ()) -> dict[str, bytes]:
    """The files below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in without
    }


def leftovers(folder: Path) -> str | None:
    """What a killed process has left behind."""
    left = [path.name for path in folder.rglob(".nary-*")]
    return f"left behind: {left[0]}" if left else None


def mutate(data: bytes, chance: random.Random) -> bytes:
    """``data`` with bits flipped, pieces cut, repeated, moved or replaced, or its end missing."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 8))):
        at = chance.randrange(len(changed) + 1)
        size = chance.choice((1, 1, 4, 64))
        kind = chance.randrange(6)
        if kind == 0 and at < len(changed):
            changed[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            changed[at : at + size] = chance.randbytes(size)
        elif kind == 2:
            del changed[at : at + size]
        elif kind == 3:
            changed[at:at] = changed[at : at + size] * chance.choice((1, 2, 100))
        elif kind == 4:
            del changed[at:]
        else:
            changed[at:at] = chance.choice((b'"', b"\n", b"\t", b"[" * 100, b"\0", b"\xff\xfe", b"9" * 400, b"{}"))
    return bytes(changed)


def _run(arguments: list[str], log: str) -> None:
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    from nary.apps.cli.main import main

    sys.argv = ["nary", *arguments]
    main()


def _answer(sender: Any, function: Any, arguments: Sequence[object]) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sender.send(function(*arguments))
