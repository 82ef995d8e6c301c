"""Options that several commands share, spelled once."""

from enum import StrEnum
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
_DATA = typer.Argument(
    metavar="DATA",
    show_default=False,
    help="A dataset by name (see: nary datasets), a file of facts, - for standard input, or a folder with train, "
    "valid and test files.",
)
Data = Annotated[str, _DATA]
MaybeData = Annotated[str | None, _DATA]
Format = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="How the files are written, when it cannot be told from them."),
]


class OnError(StrEnum):
    """What to do with a line that is not a fact."""

    stop = "stop"
    skip = "skip"


OnErrorOption = Annotated[
    OnError, typer.Option("--on-error", help="At a line that is not a fact: stop, or skip and count it.")
]
Seed = Annotated[int, typer.Option("--seed", help="Equal seeds give equal results.")]
