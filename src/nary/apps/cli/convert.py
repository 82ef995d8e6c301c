"""``nary convert``: facts from one format to another."""

from pathlib import Path
from typing import Annotated

import typer

from nary.apps.cli.options import Data, Format, Json, OnError, OnErrorOption
from nary.apps.cli.output import notice, print_json, progress_bar


def convert(
    data: Data,
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT", help="A file (.jsonl, .parquet, .tsv, .csv, packed with .gz, .bz2 or .zst) or a folder."
        ),
    ],
    format: Format = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="NAME", help="The format to write, when OUT does not tell.")
    ] = None,
    on_error: OnErrorOption = OnError.stop,
    drop_literals: Annotated[
        bool,
        typer.Option(
            "--drop-literals", help="Leave out dates and other literals, as WikiPeople- does with WikiPeople."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Write facts in another format.

    A file gets all splits, each fact then naming its own; a folder gets a file a split.

    Examples: nary convert jf17k jf17k.parquet -- nary convert facts.tsv.gz facts.jsonl -- nary convert wd50k wd50k/ --to
    gran
    """
    from nary.data.literals import drop_literals as without_literals
    from nary.data.load import resolve
    from nary.data.writing import write

    with progress_bar("reading", not as_json) as progress:
        dataset = resolve(data, format=format, on_error=on_error.value, progress=progress)
    if drop_literals:
        dataset = without_literals(dataset)
    for note in dataset.notes:
        notice(note)
    with progress_bar("writing", not as_json) as progress:
        write(dataset, out, format=to, progress=progress)
    if dataset.vocabulary.labels and not out.is_dir():
        notice("the labels of the names are not in the file; a folder would keep them")
    facts = {split: len(table) for split, table in dataset.splits.items()}
    if as_json:
        print_json({"out": str(out), "facts": facts})
    else:
        typer.echo(f"{out}: " + ", ".join(f"{split} {count:,}" for split, count in facts.items()) + " facts")
