"""Real workers for tests: processes that exchange tensors by gloo.

They are forked from a process that has imported everything and started nothing: threads do not survive a fork.
"""

import multiprocessing
import os
import socket
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from runs.small import PATIENCE

from nary.workers import joined

_Result = TypeVar("_Result")


def run_workers(size: int, function: Callable[..., _Result], *arguments: Any) -> list[_Result | None]:
    """What ``function(workers, *arguments)`` returns at each of ``size`` workers; None where one was killed."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["training.worker_jobs"])
    pipes = [context.Pipe(duplex=False) for _ in range(size)]
    port = free_port()
    processes = []
    for rank, (_, sender) in enumerate(pipes):
        work = context.Process(target=_work, args=(rank, size, port, sender, function, arguments))
        work.start()
        sender.close()
        processes.append(work)
    try:
        return [_result(receiver) for receiver, _ in pipes]
    finally:
        for process in processes:
            process.join(5)
            process.kill()


def free_port() -> int:
    """A port that nothing listens at."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _result(receiver: Connection) -> _Result | None:
    assert receiver.poll(PATIENCE), "a worker hangs"
    try:
        worked, result = receiver.recv()
    except EOFError:
        return None
    assert worked, result
    return result


def _work(
    rank: int, size: int, port: int, sender: Connection, function: Callable[..., object], arguments: tuple[Any, ...]
) -> None:
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(size), **place}
    try:
        with joined() as workers:
            sender.send((True, function(workers, *arguments)))
    except BaseException:
        sender.send((False, traceback.format_exc()))
    os._exit(0)
