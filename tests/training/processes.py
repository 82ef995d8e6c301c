"""Real workers for tests: forked processes that exchange tensors by gloo."""

import multiprocessing
import os
import socket
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import TypeVar

from nary.workers import Workers, joined

_Result = TypeVar("_Result")
_PATIENCE = 120.0  # seconds


def run_workers(size: int, function: Callable[[Workers], _Result]) -> list[_Result]:
    """What ``function`` returns at each of ``size`` workers; the error of a worker is raised here."""
    context = multiprocessing.get_context("fork")
    pipes = [context.Pipe(duplex=False) for _ in range(size)]
    port = free_port()
    processes = [context.Process(target=_work, args=(rank, size, port, function, pipes[rank][1])) for rank in range(size)]
    for process in processes:
        process.start()
    try:
        results = []
        for receiver, _ in pipes:
            assert receiver.poll(_PATIENCE), "a worker hangs"
            worked, result = receiver.recv()
            assert worked, result
            results.append(result)
        return results
    finally:
        for process in processes:
            process.join(5)
            process.kill()


def free_port() -> int:
    """A port that nothing listens at."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _work(rank: int, size: int, port: int, function: Callable[[Workers], object], sender: Connection) -> None:
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    try:
        with joined() as workers:
            sender.send((True, function(workers)))
    except BaseException:
        sender.send((False, traceback.format_exc()))
    os._exit(0)
