"""Claims: which process works on a run. A claim ends with its process, however that ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

_PATIENCE = 1.0  # seconds, because others may be looking whether the run is claimed


@contextmanager
def claim(run: Path) -> Iterator[bool]:
    """Claim the run folder at ``run``, which need not exist yet, for the body; False if another process has it."""
    path = _lock_path(run)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(path, timeout=_PATIENCE):
            yield True
    except Timeout:
        yield False


def is_claimed(run: Path) -> bool:
    """Whether a process works on the run at ``run``."""
    if not _lock_path(run).is_file():
        return False
    try:
        with FileLock(_lock_path(run), timeout=0):
            return False
    except Timeout:
        return True


def _lock_path(run: Path) -> Path:
    return run.with_name(f".{run.name}.lock")
