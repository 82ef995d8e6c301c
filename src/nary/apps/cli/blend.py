"""``nary blend``: an ensemble of trained models."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.options import Json
from nary.apps.cli.output import print_json, print_table, say
from nary.progress import progress_bar

if TYPE_CHECKING:
    from nary.runs.blend_training import BlendResult

_GROUPS = ("entity", "subject", "object", "value", "relation")


def blend(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN RUN...", show_default=False, help="Run folders or model folders on the same data."),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="RUN", show_default=False, help="The run folder to create.")],
    json: Json = False,
) -> None:
    """Blend trained models: mix their log-probabilities, with weights fitted on the valid facts.

    Use a blend like any other model. On the valid facts, it is at least as good as its best part.

    Example: nary blend runs/nobel-rules runs/nobel-gran --out runs/nobel-blend
    """
    from nary.runs.blend_training import blend_runs

    with progress_bar("Scoring valid facts", show=not json) as progress:
        result = blend_runs(runs, out, progress)
    if json:
        print_json(result.as_dict())
        return
    print_parts(result)
    say(f"Next: nary evaluate {result.run_folder}")


def print_parts(result: "BlendResult") -> None:
    """The MRR and the training time of each part and of the blend."""
    groups = [group for group in _GROUPS if any(group in part.mrr for part in result.parts)]
    rows = [[part.name, *(part.mrr.get(group) for group in groups), _seconds(part.seconds)] for part in result.parts]
    print_table("MRR on the valid facts", ["part", *groups, "seconds"], rows)


def _seconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds)
