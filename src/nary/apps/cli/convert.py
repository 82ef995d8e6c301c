"""``nary convert``: facts from one format to another."""

from pathlib import Path
from typing import Annotated

import typer

from nary.apps.cli.options import Data, Format, Json, OnError, OnErrorOption
from nary.apps.cli.output import notice, open_data, print_json, say
from nary.progress import progress_bar


def convert(
    data: Data,
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            show_default=False,
            help="A file (.jsonl, .parquet, .tsv, .csv, or RDF: .ttl, .trig, .nt, .nq; with another .gz, .bz2 or .zst "
            "to compress it) or a folder.",
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="NAME",
            help="The format to write, if it does not follow from OUT; mapped for a memory-mapped folder.",
        ),
    ] = None,
    drop_literals: Annotated[
        bool, typer.Option("--drop-literals", help="Leave dates and other literals out, as WikiPeople- does.")
    ] = False,
    format: Format = None,
    on_error: OnErrorOption = OnError.stop,
    json: Json = False,
) -> None:
    """Write facts in another format: to a file with a split for each fact, or to a folder with one file per split.

    Example: nary convert jf17k jf17k.parquet

    Example: nary convert my-graph my-graph.ttl

    Example: nary convert large.jsonl large --to mapped
    """
    from nary.data.io.writer import write
    from nary.data.rdf import is_rdf
    from nary.data.transforms.simplify import drop_literals as without_literals

    dataset = open_data(data, format, on_error, quiet=json)
    if drop_literals:
        dataset = without_literals(dataset)
        notice(dataset.notes[-1])
    with progress_bar("Writing", show=not json) as progress:
        write(dataset, out, format=to, progress=progress)
    if is_rdf(out) and len(dataset.splits) > 1:
        notice("RDF has no splits: the facts of all splits are in the file")
    if dataset.vocabulary.labels and not out.is_dir() and not is_rdf(out):
        notice("labels are not kept in a single file; give a folder to keep them")
    facts = {split: len(table) for split, table in dataset.splits.items()}
    if json:
        print_json({"out": str(out), "facts": facts})
    else:
        fact_or_facts = " fact" if sum(facts.values()) == 1 else " facts"
        say(f"{out}: " + ", ".join(f"{count:,} {split}" for split, count in facts.items()) + fact_or_facts)
