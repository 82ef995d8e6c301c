"""What commands print: results go to standard output; progress and notes go to standard error.

Text for people passes through :func:`say`, which shows control characters instead of sending them to the terminal: a
label must not move the cursor, change the title or hide other lines.
"""

import json
import os
import sys
from collections.abc import Iterable
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import orjson
import typer

from nary.apps.cli.options import OnError
from nary.errors import NaryError
from nary.progress import progress_bar
from nary.tables import Column, Table, escape_controls

if TYPE_CHECKING:
    from nary.data.dataset import Dataset
    from nary.inference.explanation_results import Explanation
    from nary.inference.results import Answer, Completion, Plausibility, Suggestion


def print_json(value: object) -> None:
    """One JSON document on standard output; in ASCII if that is all the output can take."""
    text = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY).decode()
    try:
        text.encode(sys.stdout.encoding or "utf-8")  # a stream in memory has none
    except UnicodeEncodeError:
        text = json.dumps(json.loads(text))
    typer.echo(text)


def say(text: str = "", err: bool = False, nl: bool = True, bold: bool = False, fg: str | None = None) -> None:
    """A line for people."""
    typer.secho(escape_controls(text), err=err, nl=nl, bold=bold, fg=fg)


def notice(text: str) -> None:
    """Something the user should know, on standard error; of several workers, the first one says it."""
    if os.environ.get("RANK", "0") == "0":
        say(f"note: {text}", fg="yellow", err=True)


def print_error(error: NaryError, as_json: bool) -> None:
    """An error on standard error, for people or for machines."""
    if as_json:
        typer.echo(orjson.dumps({"error": error.as_dict()}).decode(), err=True)
        return
    place = ":".join(str(part) for part in (error.file, error.line) if part is not None)
    say("error: ", fg="red", bold=True, err=True, nl=False)
    say(f"{place}: {error.message}" if place else error.message, err=True)
    if error.hint:
        say(error.hint, err=True)


def print_table(title: str, header: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """A table for people, wrapped to the width of a terminal. Numbers are aligned right, with thousands separators."""
    cells = [list(row) for row in rows]
    columns = []
    for i, name in enumerate(header):
        numeric = all(isinstance(row[i], int | float | None) for row in cells)
        columns.append(Column(name, "right" if numeric else "left"))
    width = get_terminal_size().columns if sys.stdout.isatty() else None
    titles, *lines = Table(columns, [[_cell(value) for value in row] for row in cells]).lines(width)
    if title:
        say(title, bold=True)
    if titles:
        say(titles, bold=True)
    for line in lines:
        say(line)


def known_by(result: "Answer | Completion | Plausibility | Explanation | Suggestion", shown: str = "") -> str:
    """Which stored fact a result is known from: its split, how many more there are, and the fact if not ``shown``."""
    if result.stored is None:
        return ""
    more = f" and {result.matches - 1:,} more" if result.matches > 1 else ""
    fact = "" if result.stored.fact == shown else f": {result.stored.label}"
    return f"{result.stored.split}{more}{fact}"


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:,.3f}" if isinstance(value, float) else str(value)


def open_data(data: str, format: str | None = None, on_error: OnError = OnError.stop, quiet: bool = False) -> "Dataset":
    """Read the dataset that ``data`` means and print its notes; ``quiet`` leaves the progress bar out."""
    from nary.data.load import resolve

    with progress_bar("Reading", show=not quiet) as progress:
        dataset = resolve(data, format=format, on_error=on_error.value, progress=progress)
    for note in dataset.notes:
        notice(note)
    return dataset
