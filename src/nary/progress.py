"""Progress of long work: functions call back with the amount done and, if known, the total; a bar shows it."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Protocol, Self

from nary.html import escape

VARIABLE = "NARY_PROGRESS"
"""The environment variable that turns all bars off if it is 0."""
_NOTEBOOK_SECONDS = 0.25  # between two updates: each is a message to the browser
_DELAY = 1.0  # seconds; work that is done by then shows no bar


class Progress(Protocol):
    """A callback for progress; ``total`` is None if it is unknown."""

    def __call__(self, done: int, total: int | None) -> None:
        """Report that ``done`` of ``total`` is finished."""


def no_progress(done: int, total: int | None) -> None:
    """Ignore progress."""


class Bar:
    """A progress bar within a ``with`` block: on standard error in a terminal, in the output of a notebook, or nowhere.

    It appears with the first update and is gone afterwards. ``delay`` shows it only for work that takes longer.
    """

    def __init__(self, what: str, show: bool = True, delay: bool = False) -> None:
        self._what = what
        self._show = show and os.environ.get(VARIABLE, "") != "0"
        self._from = time.monotonic() + (_DELAY if delay else 0.0)
        self._shown: _TerminalBar | _NotebookBar | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._shown is not None:
            self._shown.stop()
            self._shown = None

    def update(self, done: int, total: int | None, text: str = "", what: str | None = None) -> None:
        """Move the bar; ``text`` stands after it, and ``what`` before it from now on."""
        self._what = what or self._what
        self._begin()
        if self._shown is not None:
            self._shown.update(self._what, done, total, text)

    def _begin(self) -> None:
        if not self._show or self._shown is not None or time.monotonic() < self._from:
            return
        if in_notebook():
            self._shown = _NotebookBar()
        elif sys.stderr is not None and sys.stderr.isatty():
            self._shown = _TerminalBar()
        else:
            self._show = False


@contextmanager
def progress_bar(what: str, show: bool = True) -> Iterator[Progress]:
    """A bar while the body runs; ``report(done, total)`` moves it."""
    with Bar(what, show) as bar:
        yield lambda done, total: bar.update(done, total)


@contextmanager
def shown(progress: Progress | bool, what: str) -> Iterator[Progress]:
    """What an argument ``progress`` of the library means: a callback, a bar for what takes a while, or nothing."""
    if not isinstance(progress, bool):
        yield progress
        return
    with Bar(what, progress, delay=True) as bar:
        yield lambda done, total: bar.update(done, total)


def in_notebook() -> bool:
    """Whether a notebook shows what this process displays."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell is not None and hasattr(shell, "kernel")


class _TerminalBar:
    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[text]}", markup=False),
            TimeRemainingColumn(),
        )
        self._bars = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bars.add_task("", total=None, text="")
        self._bars.start()

    def update(self, what: str, done: int, total: int | None, text: str) -> None:
        self._bars.update(self._task, description=what, completed=done, total=total, text=text)

    def stop(self) -> None:
        self._bars.stop()


class _NotebookBar:
    """Plain HTML that is updated in place: needs no widgets."""

    def __init__(self) -> None:
        from IPython.display import HTML, display  # type: ignore[import-not-found, unused-ignore]

        self._html: Any = HTML
        self._handle: Any = display(HTML(""), display_id=True)  # type: ignore[no-untyped-call, unused-ignore]
        self._next = 0.0

    def update(self, what: str, done: int, total: int | None, text: str) -> None:
        if time.monotonic() < self._next and done != total:
            return
        self._next = time.monotonic() + _NOTEBOOK_SECONDS
        share = "" if total is None else f'value="{done}" max="{total}"'
        counted = f"{done:,}" if total is None else f"{done:,} of {total:,}"
        self._handle.update(self._html(f"{escape(what)} <progress {share}></progress> {counted} {escape(text)}"))

    def stop(self) -> None:
        self._handle.update(self._html(""))
