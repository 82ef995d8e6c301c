"""How many threads compute, and how they wait for each other.

``import nary`` calls :func:`configure`. The OpenMP library reads its variables when torch is imported, so ``nary`` must
be imported before ``torch`` for the short spin to have an effect.

By default a thread that has finished its part spins for milliseconds. If another process needs that core, the thread
it waits for may not run meanwhile, and training takes many times as long. After a short spin it sleeps instead.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import Path

from nary.errors import SettingError

VARIABLE = "NARY_THREADS"
_COUNT_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
_WAIT_VARIABLES = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
_SPIN_COUNT = "1000"  # about a microsecond; on an idle machine hardly slower than spinning
_BUSY = 1.5  # load per core from which the machine counts as oversubscribed

_chosen = False  # whether the user has set the number of threads
_imported_late = False  # whether torch was there first, and so its threads spin for long


def configure() -> None:
    """Set a short spin and the number of threads, unless the user has set them; an invalid number is ignored here."""
    global _chosen, _imported_late
    if not any(name in os.environ for name in _WAIT_VARIABLES):
        os.environ["GOMP_SPINCOUNT"] = _SPIN_COUNT
        _imported_late = "torch" in sys.modules
    try:
        requested = requested_threads()
    except SettingError:  # importing must not fail: whoever uses a public name, or the command, is told
        return
    if requested is not None:
        use_threads(requested)
    elif any(name in os.environ for name in _COUNT_VARIABLES):
        _chosen = True
    elif (cores := available_cores()) < _visible_cores():
        _set_count(cores)  # torch would start a thread for each core of the host


def requested_threads() -> int | None:
    """The value of ``NARY_THREADS``, or None if it is not set."""
    value = os.environ.get(VARIABLE, "").strip()
    if not value:
        return None
    if not (value.isascii() and value.isdigit() and int(value)):
        raise SettingError(f"{VARIABLE} is {value!r}", "Set it to a number of threads, 1 or more.")
    return int(value)


def use_threads(count: int) -> None:
    """Compute with ``count`` threads, whether or not torch is imported already."""
    global _chosen
    _chosen = True
    _set_count(count)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(count)


def is_chosen() -> bool:
    """Whether the user has set the number of threads."""
    return _chosen


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread: many small steps take longer with several, which wait for each other after each."""
    torch = sys.modules["torch"]
    count = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(count)


def _set_count(count: int) -> None:
    for name in _COUNT_VARIABLES:
        os.environ[name] = str(count)


def server_threads(count: int) -> int:
    """Of ``count`` threads, those for the model in a server: one core is left to the event loop unless told."""
    return count if _chosen else max(1, count - 1)


def available_cores() -> int:
    """The number of cores this process may use: its affinity and the CPU quota of its container."""
    quota = cpu_quota()
    return _visible_cores() if quota is None else min(_visible_cores(), ceil(quota))


def _visible_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def oversubscription_note(count: int) -> str | None:
    """A note if other processes keep the machine so busy that fewer than ``count`` threads are better."""
    cores = os.cpu_count() or 1
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if count == 1 or load < _BUSY * cores:
        return None
    note = f"the machine is busy: a load of {load:.1f} on {cores} cores. "
    if _imported_late:
        note += "Import nary before torch, or set GOMP_SPINCOUNT=1000. "
    return note + f"One thread may be faster than {count}: --threads 1, or {VARIABLE}=1"


def cpu_quota(root: Path = Path("/")) -> float | None:
    """The cores that the control groups of this process allow, as a container sets them; None without a limit.

    ``root`` is the file system to look at.
    """
    quotas = [quota for group in _groups(root) if (quota := _quota_of(group)) is not None]
    return min(quotas, default=None)


def _groups(root: Path) -> list[Path]:
    """The folders of the CPU control groups of this process and of all groups they are in (versions 1 and 2)."""
    mounted = root / "sys/fs/cgroup"
    folders = []
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        base = mounted / controllers  # version 2 has no list of controllers: mounted itself
        # In a container the path may be that of the host, and the folder of the group mounted without it.
        inside = base / path.strip("/")
        folders += [inside, *(parent for parent in inside.parents if parent.is_relative_to(base))]
    return folders


def _quota_of(group: Path) -> float | None:
    words = _read(group / "cpu.max").split()  # version 2
    if not words:
        words = [_read(group / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]  # version 1
    try:
        quota, period = (int(word) for word in words)
    except ValueError:  # there is no such file, or its quota is "max"
        return None
    return quota / period if quota > 0 and period > 0 else None


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
