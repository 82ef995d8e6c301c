"""Exceptions. Each says what was given, what was expected, and what to do next.

Every error that a user can cause is a :class:`NaryError`. Commands print it without a traceback and exit with its
``exit_code``; ``--json`` prints :meth:`NaryError.as_dict`.
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

_MANY = 10_000


class NaryError(Exception):
    """Base class of all errors. ``message`` says what is wrong, ``hint`` what to do about it."""

    kind = "error"
    exit_code = 2

    def __init__(self, message: str, hint: str | None = None, file: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.file = file
        self.line = line

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        text = f"{place}: {self.message}" if place else self.message
        return f"{text}\n{self.hint}" if self.hint else text

    def as_dict(self) -> dict[str, str | int | None]:
        """Return the error as ``--json`` prints it; file and line only if they are known."""
        content: dict[str, str | int | None] = {"kind": self.kind, "message": self.message, "hint": self.hint}
        if self.file is not None:
            content["file"] = self.file
        if self.line is not None:
            content["line"] = self.line
        return content


class FactError(NaryError):
    """A fact, or its one-line text form, is malformed."""

    kind = "fact"


class DataError(NaryError):
    """A data file cannot be read as facts."""

    kind = "data"


class DatasetError(NaryError):
    """A dataset is unknown, or its files are missing or damaged."""

    kind = "dataset"


class OutputError(NaryError):
    """Output cannot be written."""

    kind = "output"


class SettingError(NaryError):
    """A setting or option has an invalid value."""

    kind = "setting"


class MissingExtraError(NaryError):
    """An optional dependency is not installed."""

    kind = "missing-extra"

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs an optional dependency", f"Install it with: pip install 'nary[{extra}]'")


class NaryWarning(UserWarning):
    """Something that the user should know, but that stops nothing. Commands print it as a note."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint with the known names nearest to ``name``, or with all of them if there are only a few."""
    known = known if isinstance(known, Sequence) else list(known)
    near = get_close_matches(name, known if len(known) <= _MANY else _similar(name, known), n=3, cutoff=0.6)
    if near:
        return "Did you mean " + " or ".join(near) + "?"
    if len(known) <= 30:
        return "Known: " + ", ".join(known)
    return f"{len(known)} names are known; none is close."


def _similar(name: str, known: Iterable[str]) -> list[str]:
    """Select the names with the same first letter and a similar length: comparing very many takes seconds."""
    first, slack = name[:1].casefold(), 2 + len(name) // 4
    return [other for other in known if abs(len(other) - len(name)) <= slack and other[:1].casefold() == first]
