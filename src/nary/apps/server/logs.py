"""The log of the server: one JSON object a line on standard error, and never more lines than a disk can take."""

import logging
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime

import orjson

_MAX_RECORDS = 5  # a second, of each logger
_LOGGERS = ("uvicorn.error", "asyncio")


def write_line(**content: object) -> None:
    """Write one line with the time; a log that cannot be written, on a full disk for example, stops no answer."""
    line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), **content}
    with suppress(OSError, ValueError):
        print(orjson.dumps(line, default=str).decode(), file=sys.stderr, flush=True)  # noqa: T201


class LimitedHandler(logging.Handler):
    """Writes the records of a logger as lines; beyond a few a second it only counts them.

    A server that runs out of file descriptors would otherwise log a traceback for every connection it cannot accept.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._second = 0
        self._count = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record, unless there were many in this second."""
        second = int(time.monotonic())
        if second != self._second:
            left_out, self._second, self._count = self._count - _MAX_RECORDS, second, 0
            if left_out > 0:
                write_line(level="WARNING", message=f"{left_out} more messages were left out")
        self._count += 1
        if self._count <= _MAX_RECORDS:
            trace = logging.Formatter().formatException(record.exc_info) if record.exc_info else None
            write_line(level=record.levelname, message=record.getMessage().strip(), traceback=trace)


def limit_logs() -> None:
    """Let what the HTTP server and the event loop have to say pass through a :class:`LimitedHandler` each."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers = [LimitedHandler()]
        logger.propagate = False
