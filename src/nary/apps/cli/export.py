"""``nary export``: a model for other programs."""

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
            help="The file to write: .tsv, .parquet or .npy for vectors, .pt2 or .onnx for the scores.",
        ),
    ],
    format: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="tsv, parquet, npy, torch or onnx, when OUT does not tell."),
    ] = None,
    arity: Annotated[
        int | None,
        typer.Option("--arity", help="The arity of the facts to score; the most frequent one if not given."),
    ] = None,
    json: Json = False,
) -> None:
    """Write the vectors of all entities and relations, or the scores of the model as a program for torch or ONNX.

    The names of entities and relations go into OUT.names.tsv, or with Parquet into OUT itself.

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
