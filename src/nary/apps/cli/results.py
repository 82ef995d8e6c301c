"""``nary results``: recorded results as a page."""

from pathlib import Path
from typing import Annotated

import typer

from nary.apps.cli.options import Json
from nary.apps.cli.output import print_json
from nary.errors import DataError


def results(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where results were recorded.")] = Path("results"),
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the page to a file.")] = None,
    json: Json = False,
) -> None:
    """Make one page of all recorded results, beside the published figures, and a picture of quality against time.

    Example: nary results results --out docs/results.md
    """
    from nary.runs.results import read_results

    if not read_results(folder):
        raise DataError(f"{folder} holds no results", f"nary evaluate RUN --record {folder} makes one.")
    if json:
        print_json(read_results(folder))
        return
    from nary.apps.results.own import read_own
    from nary.apps.results.page import PICTURE, results_page
    from nary.apps.results.picture import datasets_drawn, draw_results
    from nary.data.files import atomic_path

    page = results_page(folder, out)
    if out is None:
        typer.echo(page)
        return
    if datasets_drawn(own := read_own(folder)):
        draw_results(own, out.parent / PICTURE)
    with atomic_path(out) as temporary:
        temporary.write_text(page, encoding="utf-8")
