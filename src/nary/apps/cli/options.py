"""Arguments and options that several commands share."""

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
        help="Treat a name that the model does not know as the average of the names in its slot, and say so.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Answers = Annotated[int, typer.Option("-k", help="How many answers.")]
Device = Annotated[
    str, typer.Option("--device", metavar="NAME", help="Where to compute: cpu, cuda, ... auto takes an accelerator.")
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
        help="Share the work between so many processes of this machine. For several machines see docs/scaling.md.",
    ),
]
Overrides = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a key of the recipe.")
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
    """Where answers go that a stored fact gives."""

    first = "first"
    mark = "mark"
    hide = "hide"
    only = "only"


KnownOption = Annotated[
    KnownAnswer,
    typer.Option(
        "--known", help="What stored facts give: first, marked in one list by score, hidden, or nothing else."
    ),
]


class NameKind(StrEnum):
    """The two kinds of names."""

    entity = "entity"
    relation = "relation"


def is_one_fact(facts: str) -> bool:
    """Whether an argument that names data is a fact in the one-line form instead."""
    return "|" in facts and not os.path.exists(facts)  # noqa: PTH110 (Path.exists raises for a long fact)
