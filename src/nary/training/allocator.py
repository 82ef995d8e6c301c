"""How the memory of freed tensors is kept for the next ones."""

import ctypes
import platform

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # what mallopt of the GNU C library calls them
_LARGEST = 1 << 27  # bytes of a tensor; larger ones would leave larger holes
_KEPT = 1 << 29  # bytes in all


def keep_freed_memory() -> None:
    """Keep freed memory in this process for the next tensors, where its C library can be told to.

    A step makes and frees tensors as large as the table of entities. Memory given back to the system in between comes
    back page by page, each cleared first, which takes a good part of a step of a small batch.
    """
    if platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, _LARGEST)
        library.mallopt(_TRIM_THRESHOLD, _KEPT)
