"""Progress reporting: long-running functions call back with the amount done and, if known, the total."""

from typing import Protocol


class Progress(Protocol):
    """A callback for progress; ``total`` is None if it is unknown."""

    def __call__(self, done: int, total: int | None) -> None:
        """Report that ``done`` of ``total`` is finished."""


def no_progress(done: int, total: int | None) -> None:
    """Ignore progress."""
