"""Sphinx extension: the commands of the Typer app, with their options, in place of ``<!-- commands -->`` in a page."""

import re
from collections.abc import Iterator
from typing import Any

import typer
from sphinx.application import Sphinx
from typer.main import get_command

from nary.apps.cli.main import app as nary_app
from nary.tables import Table, escape_markdown, left

_MARK = "<!-- commands -->"


def _reference() -> Iterator[str]:
    """The parts of the page in Markdown: a section for each help panel, with a section for each command."""
    panel = None
    for name, command in get_command(nary_app).commands.items():
        if command.rich_help_panel != panel:
            panel = command.rich_help_panel
            yield f"## {panel}"
        yield from _section(f"nary {name}", command)


def _section(name: str, command: Any) -> Iterator[str]:
    context = typer.Context(command, info_name=name)
    usage = re.sub(r"[{}]", "", command.get_usage(context)).replace("[[", "[").replace("]]", "]")
    text, _, example = command.help.partition("Example:")
    yield f"### {name}"
    yield f"```\n{usage.removeprefix('Usage: ')}\n```"
    yield from map(escape_markdown, text.split("\n\n"))
    yield Table(left("argument or option", "meaning"), [_row(each, context) for each in command.params]).markdown()
    if example:
        yield f"Example:\n\n```\n{example.strip()}\n```"


def _row(parameter: Any, context: typer.Context) -> list[str]:
    name, meaning = parameter.get_help_record(context)
    return [f"`{name}`".replace("|", r"\|"), escape_markdown(meaning)]


def _insert(app: Sphinx, name: str, source: list[str]) -> None:
    if _MARK in source[0]:
        source[0] = source[0].replace(_MARK, "\n\n".join(_reference()))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", _insert)
    return {"parallel_read_safe": True}
