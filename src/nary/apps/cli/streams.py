"""Standard streams that are closed, full or of a narrow encoding, and other refusals of the system."""

import errno
import io
import os
import sys
from contextlib import suppress
from typing import IO

from nary.errors import NaryError, OutputError, SettingError

_REFUSALS = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EIO,
    errno.EBADF,
    errno.EROFS,
    errno.EACCES,
    errno.ENAMETOOLONG,
    errno.ELOOP,
}
_LONGEST_NAME = 200  # characters of a path in a message


def prepare_streams() -> None:
    """Open standard streams that are closed, and let every character be printed somehow, whatever the encoding."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:  # otherwise the next file that is opened would take its place
            mode = "w" if number else "r"
            descriptor = os.open(os.devnull, os.O_RDWR)
            os.dup2(descriptor, number)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def as_user_error(error: Exception) -> NaryError | None:
    """An error of the system as one for people; None if it is a bug."""
    text = str(error).partition("\n")[0]
    if isinstance(error, MemoryError) or "can't allocate memory" in text:
        return SettingError(f"not enough memory: {text or 'the system has none left'}", "Use smaller settings or data.")
    if isinstance(error, FileNotFoundError) and error.filename is None:
        return OutputError("the working folder does not exist anymore", "Change to another one.")
    if not isinstance(error, OSError) or error.errno not in _REFUSALS:
        return None
    if error.filename is None:
        return OutputError(f"cannot write the output: {error.strerror}", "Direct it elsewhere.")
    name = str(error.filename)
    return OutputError(f"{name[:_LONGEST_NAME]}{'...' * (len(name) > _LONGEST_NAME)}: {error.strerror}")


def drop_output(stream: IO[str]) -> None:
    """Write nothing more to a stream, not even what it holds: the interpreter would complain when it ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
