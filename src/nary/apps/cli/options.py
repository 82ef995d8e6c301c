"""Arguments and options that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

RunPath = Annotated[Path, typer.Argument(metavar="RUN", show_default=False, help="A run folder or a model folder.")]
_DATA = typer.Argument(
    metavar="DATA",
    show_default=False,
    help="A dataset by name (see: nary datasets), a file of facts, - for standard input, or a folder with train, "
    "valid and test files.",
)
Data = Annotated[str, _DATA]
MaybeData = Annotated[str | None, _DATA]
WholeFact = Annotated[
    str,
    typer.Argument(metavar="FACT", show_default=False, help="subject | relation | object | attribute: value | ..."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Answers = Annotated[int, typer.Option("-k", help="How many answers.")]
Device = Annotated[
    str, typer.Option("--device", metavar="NAME", help="Where to compute: cpu, cuda, ... auto takes an accelerator.")
]
Overrides = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Another value for a key of the recipe.")
]
Seed = Annotated[int, typer.Option("--seed", help="Equal seeds give equal results.")]
Format = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="The file format, when it cannot be told from the files."),
]


class OnError(StrEnum):
    """What to do with a line that is not a fact."""

    stop = "stop"
    skip = "skip"


OnErrorOption = Annotated[
    OnError, typer.Option("--on-error", help="At a line that is not a fact: stop, or skip and count it.")
]


class KnownAnswer(StrEnum):
    """What to do with answers that make a known fact."""

    mark = "mark"
    hide = "hide"
    only = "only"


class NameKind(StrEnum):
    """The two kinds of names."""

    entity = "entity"
    relation = "relation"
