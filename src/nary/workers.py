"""The processes that share a piece of work, and how they exchange tensors: a thin layer over ``torch.distributed``.

A launcher starts the same command several times, on one machine or on several, and tells each process by environment
variables how many there are and which one it is: ``torchrun`` does, and so does ``nary train --workers``. CPUs exchange
tensors by gloo, NVIDIA GPUs by NCCL.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt
import torch
import torch.distributed as dist
from torch import Tensor

from nary.errors import NaryError

_RANK, _SIZE, _LOCAL_RANK, _TIMEOUT = "RANK", "WORLD_SIZE", "LOCAL_RANK", "NARY_WORKER_TIMEOUT"
_SECONDS = 600.0  # without an answer after which another worker counts as lost
LOST = 75  # the exit code of a worker that lost the others: started again, it goes on
_Number = TypeVar("_Number", bound=np.generic)


class LostWorkerError(NaryError):
    """Another worker has ended, or cannot be reached."""

    kind = "workers"
    exit_code = LOST


@dataclass(frozen=True)
class Workers:
    """Worker ``rank`` of ``size``, counted from 0. All of them call the same methods in the same order."""

    rank: int = 0
    size: int = 1

    @property
    def is_first(self) -> bool:
        """Whether this is the worker that writes and prints."""
        return self.rank == 0

    @cached_property
    def device(self) -> torch.device:
        """Where tensors are exchanged that are on no device yet."""
        return torch.device("cuda" if self.size > 1 and dist.get_backend() == "nccl" else "cpu")

    def takes(self, number: int) -> bool:
        """Whether this worker does the piece of work with this number: they take turns."""
        return number % self.size == self.rank

    def num_taken(self, total: int) -> int:
        """How many of ``total`` pieces of work this worker takes."""
        return len(range(self.rank, total, self.size))

    def reduce_(self, tensor: Tensor, by: Literal["sum", "max"] = "sum") -> Tensor:
        """Replace a tensor by the sum or the maximum of those of all workers."""
        if self.size > 1:
            dist.all_reduce(tensor, dist.ReduceOp.SUM if by == "sum" else dist.ReduceOp.MAX)
        return tensor

    def any(self, *flags: bool) -> tuple[bool, ...]:
        """For each flag, whether any worker has set it."""
        if self.size == 1:
            return flags
        values = torch.tensor([float(flag) for flag in flags], device=self.device)
        return tuple(value > 0 for value in self.reduce_(values, "max").tolist())

    def exchange(self, tensor: Tensor, sizes: list[int], received: list[int]) -> Tensor:
        """Send ``sizes[w]`` rows of a tensor [n, ...] to each worker ``w``; returns what all have sent to this one.

        ``received`` says how many rows each sends.
        """
        output = tensor.new_empty(sum(received), *tensor.shape[1:])
        dist.all_to_all_single(output, tensor.contiguous(), received, sizes)
        return output

    def exchange_sizes(self, sizes: list[int]) -> list[int]:
        """Send each worker a number; returns those that all have sent to this one."""
        sent = torch.tensor(sizes, device=self.device)
        received = torch.empty_like(sent)
        dist.all_to_all_single(received, sent)
        return received.tolist()

    def concatenate(self, tensor: Tensor, sizes: list[int] | None = None) -> Tensor:
        """The rows [n, ...] of all workers, one after the other; ``sizes`` says how many each has, if known."""
        if self.size == 1:
            return tensor
        if sizes is None:
            sizes = self.exchange_sizes([len(tensor)] * self.size)
        most = max(sizes)
        padded = tensor.new_zeros(most, *tensor.shape[1:])
        padded[: len(tensor)] = tensor
        parts = [torch.empty_like(padded) for _ in sizes]
        dist.all_gather(parts, padded)
        return torch.cat([part[:size] for part, size in zip(parts, sizes, strict=True)])

    def concatenate_columns(self, columns: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
        """The columns [k, n] of all workers, one after the other."""
        if self.size == 1:
            return columns
        rows = self.concatenate(torch.from_numpy(columns.T.copy()).to(self.device))
        gathered: npt.NDArray[_Number] = rows.cpu().numpy().T
        return gathered

    def to_first(self, tensor: Tensor, sizes: list[int] | None = None) -> list[Tensor]:
        """The rows [n, ...] of each worker, at the first one; elsewhere nothing."""
        if self.size == 1:
            return [tensor]
        if sizes is None:
            sizes = self.exchange_sizes([len(tensor)] + [0] * (self.size - 1))
        if not self.is_first:
            dist.send(tensor.contiguous(), 0)
            return []
        parts = [tensor]
        for rank in range(1, self.size):
            parts.append(tensor.new_empty(sizes[rank], *tensor.shape[1:]))
            dist.recv(parts[-1], rank)
        return parts

    def bytes_to_first(self, content: bytes) -> list[bytes]:
        """What each worker gives, at the first one; elsewhere nothing."""
        if self.size == 1:
            return [content]
        tensor = torch.frombuffer(bytearray(content + b"\0"), dtype=torch.uint8)  # never empty
        return [part.cpu().numpy().tobytes()[:-1] for part in self.to_first(tensor.to(self.device))]

    def from_first(self, content: bytes) -> bytes:
        """What the first worker gives."""
        if self.size == 1:
            return content
        tensor = torch.tensor(list(content) if self.is_first else [], dtype=torch.uint8, device=self.device)
        return self.concatenate(tensor).cpu().numpy().tobytes()

    def wait(self) -> None:
        """Wait for all workers."""
        self.any(False)


ALONE = Workers()
"""A process without others."""


@contextmanager
def joined() -> Iterator[Workers]:
    """Join the others that the launcher has started, until the end of the block; alone if there are none."""
    if os.environ.get(_SIZE, "1") == "1":
        yield ALONE
        return
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ.get(_LOCAL_RANK, 0)))
    seconds = float(os.environ.get(_TIMEOUT, _SECONDS))
    with _reporting_lost():
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo", timeout=timedelta(seconds=seconds))
        try:
            yield Workers(int(os.environ[_RANK]), int(os.environ[_SIZE]))
        finally:
            dist.destroy_process_group()


@contextmanager
def _reporting_lost() -> Iterator[None]:
    try:
        yield
    except (dist.DistError, RuntimeError) as error:
        if not is_lost(error):
            raise
        raise LostWorkerError(
            "another worker has ended or cannot be reached",
            "Started again, the workers go on from the last checkpoint.",
        ) from error


def is_lost(error: RuntimeError) -> bool:
    """Whether an error comes from the exchange with other workers; gloo has no class for that."""
    words = ("gloo", "nccl")
    return isinstance(error, dist.DistError) or any(word in str(error).lower() for word in words)
