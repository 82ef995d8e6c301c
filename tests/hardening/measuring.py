"""``nary`` as a process of its own: how it ended, what it said, and how much memory it took."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from runs.small import PATIENCE

_PROGRAM = """
import atexit, os, re
def note_peak():
    status = open("/proc/self/status").read()
    open(os.environ["NARY_TEST_PEAK"], "w").write(re.search(r"VmHWM:\\s+(\\d+)", status)[1])
atexit.register(note_peak)
from nary.apps.cli.main import main
main()
"""


class Measured(NamedTuple):
    """Exit code, standard output, standard error, and the most memory in megabytes."""

    code: int
    out: str
    err: str
    peak: float


def measure(*arguments: object, cwd: Path | None = None, **environment: str) -> Measured:
    """Run ``nary`` to its end."""
    with tempfile.NamedTemporaryFile("r") as peak:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, *map(str, arguments)],
            capture_output=True,
            cwd=cwd,
            env={**os.environ, "OMP_NUM_THREADS": "1", **environment, "NARY_TEST_PEAK": peak.name},
            timeout=PATIENCE,
            check=False,
        )
        kilobytes = int(peak.read() or 0)
    out, err = (stream.decode(errors="replace") for stream in (done.stdout, done.stderr))
    return Measured(done.returncode, out, err, kilobytes / 1024)
