"""How a training process runs: its precision, its memory, and what Ctrl-C and SIGTERM do."""

import ctypes
import platform
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType

import torch

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # parameters of mallopt in the GNU C library
_MAX_KEPT_TENSOR = 1 << 27  # bytes; larger tensors would leave larger holes
_MAX_KEPT_MEMORY = 1 << 29  # bytes


def precision(name: str, device: torch.device) -> AbstractContextManager[object]:
    """The autocast context of ``training.precision``; ``"auto"`` is bfloat16 where the device multiplies it faster."""
    fast = device.type == "cuda" or (device.type == "cpu" and _cpu_has_bf16())
    if name == "fp32" or (name == "auto" and not fast):
        return nullcontext()
    return torch.autocast(device.type, torch.bfloat16)


def _cpu_has_bf16() -> bool:
    """Whether the CPU has bfloat16 instructions; without them it is several times slower than float32."""
    supported = getattr(torch.cpu, "_is_avx512_bf16_supported", None)  # torch has no public name for this
    return supported is not None and bool(supported())


def keep_freed_memory() -> None:
    """Let the C library keep freed memory for the next tensors, where it can be told to.

    A step allocates and frees tensors as large as the entity embeddings. Memory returned to the system in between comes
    back page by page, each cleared first, which takes a good part of a step of a small batch.
    """
    if platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, _MAX_KEPT_TENSOR)
        library.mallopt(_TRIM_THRESHOLD, _MAX_KEPT_MEMORY)


@contextmanager
def deferred_interrupts(may_insist: bool = True) -> Iterator[Callable[[], bool]]:
    """Defer Ctrl-C and SIGTERM: the yielded function says whether one came, so that a step can finish and be saved.

    A second one raises KeyboardInterrupt at once, if one ``may_insist``.
    """
    received: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        if received and may_insist:
            raise KeyboardInterrupt
        received.append(number)

    try:
        previous = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # signals can only be handled in the main thread
        yield lambda: False
        return
    try:
        yield lambda: bool(received)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
