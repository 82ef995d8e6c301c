"""``nary export``: a model for use in other programs."""

from pathlib import Path
from typing import Annotated

import typer

from nary.apps.cli.options import Json, RunPath
from nary.apps.cli.output import print_json, say
from nary.wording import counted


def export(
    run: RunPath,
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            show_default=False,
            help="The file to write: .tsv, .parquet or .npy for embeddings, .pt2 or .onnx for the scoring function.",
        ),
    ],
    format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="NAME", help="tsv, parquet, npy, torch or onnx, if it does not follow from OUT."
        ),
    ] = None,
    arity: Annotated[
        int | None,
        typer.Option("--arity", help="The arity of the facts to score; by default the most frequent one."),
    ] = None,
    json: Json = False,
) -> None:
    """Export the embeddings of all entities and relations, or the scoring function for torch or ONNX.

    The names of entities and relations are written to OUT.names.tsv, or with Parquet to OUT itself.

    Example: nary export runs/nobel-gran nobel.onnx --arity 3
    """
    from nary.inference.export import export as write
    from nary.runs import load_model

    loaded = load_model(run, "cpu")
    written = write(loaded.module, loaded.dataset, out, format, arity)
    if json:
        print_json(written.as_dict())
        return
    what = "vectors" if written.arity is None else f"scores for facts of arity {written.arity}"
    say(
        f"{out}: {what}, {counted(written.entities, 'entity', 'entities')} and {counted(written.relations, 'relation')}"
    )
    if written.names is not None:
        say(f"{written.names}: their names")
