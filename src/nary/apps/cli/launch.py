"""``--workers``: start a command again in several processes, with torchrun's launcher."""

import logging
import os
import sys
import tempfile
import uuid
from collections.abc import Sequence
from pathlib import Path

import typer

from nary.apps.cli.output import notice
from nary.threads import VARIABLE, available_cores

_RESTARTS = 3
_STOPPED = 130  # the shell's code for an interrupt
_CODES = range(1, 128)  # of a process that ended by itself


def is_worker() -> bool:
    """Whether a launcher has started this process as one of several."""
    return os.environ.get("WORLD_SIZE", "1") != "1"


def in_several(workers: int | None) -> bool:
    """Whether a command with this option runs in several processes, or is about to."""
    return is_worker() or (workers or 1) > 1


def launched(workers: int | None, restarts: int = _RESTARTS) -> bool:
    """Run the command of this process in ``workers`` processes, if it is more than one and not one of them."""
    if workers is None or workers == 1 or is_worker():
        return False
    _run_workers(workers, sys.argv[1:], restarts)
    return True


def _run_workers(count: int, arguments: Sequence[str], restarts: int) -> None:
    """Run the command with these ``arguments`` in ``count`` processes, and exit as they do.

    If one is killed or lost, all are started again, at most ``restarts`` times: the command must then go on where it
    was. An error that a command reports itself would only be repeated.
    """
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

    from nary.workers import LOST

    os.environ.setdefault(VARIABLE, str(max(1, available_cores() // count)))
    for again in range(restarts + 1):
        with tempfile.TemporaryDirectory(prefix="nary-workers-") as folder:
            try:
                _launch(count, arguments, folder)
            except SignalException:  # the workers have saved and said so
                raise typer.Exit(_STOPPED) from None
            except ChildFailedError as error:
                codes = {rank: failure.exitcode for rank, failure in error.failures.items()}
                if again < restarts and any(code not in _CODES or code == LOST for code in codes.values()):
                    lost = [str(rank + 1) for rank, code in codes.items() if code not in _CODES]
                    notice(f"worker {' and '.join(lost) or 'unknown'} was lost; all workers are started again")
                    continue
                _show_errors(Path(folder), set(codes))
                raise typer.Exit(min(code if code in _CODES else 128 - code for code in codes.values())) from None
        return


def _launch(count: int, arguments: Sequence[str], folder: str) -> None:
    """Start the processes and wait for them; what all but the first print goes to files."""
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, Std
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    for name in logging.root.manager.loggerDict:  # each has a level of its own
        if name.startswith("torch.distributed.elastic"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # we say it in our words
    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=count,
        run_id=uuid.uuid4().hex,
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",
        max_restarts=0,
        logs_specs=DefaultLogsSpecs(log_dir=folder, redirects=dict.fromkeys(range(1, count), Std.ALL)),
    )
    elastic_launch(config, sys.executable)("-m", "nary", *arguments)


def _show_errors(folder: Path, failed: set[int]) -> None:
    """Show what a worker has printed, unless the first one, whose output is shown already, has failed too."""
    if 0 not in failed:
        path = next(folder.rglob(f"{min(failed)}/stderr.log"), None)
        if path is not None:
            sys.stderr.write(path.read_text(errors="replace"))
