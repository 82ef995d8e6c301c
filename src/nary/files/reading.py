"""Reading files that anybody may have made: regular files only, and no larger than expected."""

import os
import stat
from pathlib import Path
from typing import IO

MAX_DOCUMENT = 1 << 26
"""The largest file in bytes that is read whole without further questions, such as a recipe or a list of reports."""


def open_regular(path: Path) -> IO[bytes]:
    """Open a file for reading, unless it is a device, a pipe or a folder: reading those may never end.

    Links are followed. Raises OSError or ValueError.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a pipe would wait for its writer
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is not a regular file")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_bytes(path: Path, limit: int = MAX_DOCUMENT) -> bytes:
    """The content of a regular file of at most ``limit`` bytes. Raises OSError or ValueError."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > limit:
            raise ValueError(f"it has {size:,} bytes; at most {limit:,} are expected")
        return file.read(limit + 1)
