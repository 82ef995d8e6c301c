"""The process of one worker: ``python -m nary.reproduction.worker``, started by :mod:`nary.reproduction.workers`."""

import _thread
import sys
import threading
from pathlib import Path
from typing import Any

import orjson

from nary.data.load import resolve
from nary.errors import NaryError
from nary.recipe import Recipe
from nary.reproduction.claims import claim
from nary.reproduction.experiments import Experiment
from nary.reproduction.queue import plan, record_job, train_job
from nary.runs import InterruptedRun


def main() -> None:
    """Do the job given on standard input, and say how it ended on standard output."""
    order = orjson.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_interrupt_when_closed, daemon=True).start()
    try:
        kind, detail = _work(order)
    except (InterruptedRun, KeyboardInterrupt):
        sys.exit(InterruptedRun.exit_code)
    except NaryError as error:
        kind, detail = "failed", str(error)
    sys.stdout.write(orjson.dumps({"kind": kind, "detail": detail}).decode())


def _work(order: dict[str, Any]) -> tuple[str, str]:
    experiment = Experiment(order["name"], Recipe.from_tables(order["recipe"]))
    runs, results = Path(order["runs"]), Path(order["results"])
    (job,) = plan([experiment], runs, results)
    with claim(runs / job.path) as claimed:
        if not claimed:
            return "skipped", "another process works on it"
        (job,) = plan([experiment], runs, results)  # another process may have finished it just now
        if job.state == "recorded":
            return "skipped", "another process has recorded it"
        result = train_job(job, runs, lambda: resolve(experiment.dataset))
        return "recorded", str(record_job(job, result, results))


def _interrupt_when_closed() -> None:
    sys.stdin.buffer.read()
    _thread.interrupt_main()


if __name__ == "__main__":
    main()
