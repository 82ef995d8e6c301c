"""Arguments and options shared by several commands."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from nary.threads import VARIABLE, use_threads


def _use_threads(count: int | None) -> int | None:
    if count is not None:
        use_threads(count)
    return count


RunPath = Annotated[
    Path,
    typer.Argument(
        metavar="RUN",
        show_default=False,
        help="A run folder, a model folder, or a shared model: hf://OWNER/NAME or hf://OWNER/NAME@REVISION.",
    ),
]
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
Unseen = Annotated[
    bool,
    typer.Option(
        "--unseen",
        help="Treat an unknown name as the average of the names in its slot, with a note.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Answers = Annotated[int, typer.Option("-k", help="The number of answers.")]
Device = Annotated[
    str, typer.Option("--device", metavar="NAME", help="cpu, cuda, ..., or auto: cuda if it is available, else cpu.")
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        metavar="N",
        min=1,
        envvar=VARIABLE,
        callback=_use_threads,  # while options are parsed: commands import torch afterwards
        show_default=False,
        help="The number of threads; by default one per available core.",
    ),
]
NumWorkers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        min=1,
        show_default=False,
        help="Share the work among N processes on this machine; for several machines, see docs/scaling.md.",
    ),
]
Overrides = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a key of the recipe.")
]
Seed = Annotated[int, typer.Option("--seed", help="Equal seeds give equal results.")]
Format = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="The file format, if it cannot be detected."),
]


class OnError(StrEnum):
    """What to do with a malformed line."""

    stop = "stop"
    skip = "skip"


OnErrorOption = Annotated[
    OnError,
    typer.Option("--on-error", help="What to do with malformed lines: stop at the first, or skip and count them."),
]


class KnownAnswer(StrEnum):
    """How to show answers from stored facts."""

    first = "first"
    mark = "mark"
    hide = "hide"
    only = "only"


KnownOption = Annotated[
    KnownAnswer,
    typer.Option(
        "--known",
        help="Answers from stored facts: list them first, mark them in one list by score, hide them, or only them.",
    ),
]


class NameKind(StrEnum):
    """The two kinds of names."""

    entity = "entity"
    relation = "relation"


def is_one_fact(facts: str) -> bool:
    """Whether an argument that names data is a fact in the one-line form instead."""
    return "|" in facts and not os.path.exists(facts)  # noqa: PTH110 (Path.exists raises for a long fact)
