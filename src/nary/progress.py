"""How library code tells its caller how far it is: a function called with what is done and, if known, the total."""

from typing import Protocol


class Progress(Protocol):
    """Called now and then during long work; ``total`` is None where it cannot be known."""

    def __call__(self, done: int, total: int | None) -> None:
        """Take notice."""


def no_progress(done: int, total: int | None) -> None:
    """Say nothing."""
