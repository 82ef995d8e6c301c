"""``nary results``: the results page."""

from pathlib import Path
from typing import Annotated

import typer

from nary.apps.cli.options import Json
from nary.apps.cli.output import print_json, say
from nary.errors import DataError


def results(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of result records.")] = Path("results"),
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the page and its figure to files.")
    ] = None,
    json: Json = False,
) -> None:
    """Generate a Markdown page of all recorded results next to published ones, with a plot of MRR vs. training time.

    Example: nary results results --out docs/results.md
    """
    from nary.reproduction.page import results_page, write_results_page
    from nary.reproduction.records import read_results

    records = read_results(folder)
    if not records:
        raise DataError(f"{folder} holds no results", f"Record one: nary evaluate RUN --record {folder}")
    if json:
        print_json(records)
    elif out is None:
        say(results_page(folder))
    else:
        write_results_page(folder, out)
