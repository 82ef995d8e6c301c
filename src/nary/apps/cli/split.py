"""``nary split``: divide facts into train, valid and test."""

from pathlib import Path
from typing import Annotated

import typer

from nary.apps.cli.options import Data, Format, Json, OnError, OnErrorOption, Seed
from nary.apps.cli.output import notice, open_data, print_json, print_table
from nary.progress import progress_bar


def split(
    data: Data,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="DIR",
            show_default=False,
            help="A new folder for train, valid and test, or a .jsonl or .parquet file with all splits.",
        ),
    ],
    valid: Annotated[float, typer.Option("--valid", metavar="SHARE", help="The fraction of valid facts.")] = 0.1,
    test: Annotated[float, typer.Option("--test", metavar="SHARE", help="The fraction of test facts.")] = 0.1,
    seed: Seed = 0,
    separate_primary: Annotated[
        bool,
        typer.Option("--separate-primary", help="Keep facts with the same primary triple in one split."),
    ] = False,
    format: Format = None,
    on_error: OnErrorOption = OnError.stop,
    as_json: Json = False,
) -> None:
    """Split facts into train, valid and test; existing splits are pooled first. The splits are stratified by relation,
    equal facts stay in one split, and every entity (except literals) and relation of valid and test occurs in train.

    Example: nary split facts.jsonl --out my-data --separate-primary
    """
    from nary.data.importers.graph import write_imported
    from nary.data.importers.mapping import FILE, GraphMapping
    from nary.data.io.writer import write
    from nary.data.statistics import counts
    from nary.data.transforms.splits import split_dataset

    dataset = open_data(data, format, on_error, quiet=as_json)
    divided = split_dataset(dataset, valid, test, seed, keep_primary_together=separate_primary)
    notice(divided.notes[-1])
    with progress_bar("Writing", show=not as_json) as progress:
        if (mapping := Path(data) / FILE).is_file() and not out.suffix:  # the columns that the facts come from
            write_imported(divided, out, GraphMapping.read(mapping), progress=progress)
        else:
            write(divided, out, progress=progress)
    sizes = {name: len(divided.splits.get(name, ())) for name in ("train", "valid", "test")}
    if as_json:
        print_json({**counts(divided), "facts": sizes, "seed": seed, "out": str(out)})
        return
    rows = [[name, size, f"{size / len(dataset):>6.1%}"] for name, size in sizes.items()]
    print_table(str(out), ["split", "facts", "share"], rows)
