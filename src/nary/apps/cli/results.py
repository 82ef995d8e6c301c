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
    """Make one page of all recorded results, beside the published figures.

    Example: nary results results --out docs/results.md
    """
    from nary.apps.results_page import results_page
    from nary.data.files import atomic_path
    from nary.runs.results import read_results

    if not (folder / "published.toml").is_file():
        raise DataError(
            f"{folder} is no folder of results: it has no published.toml", "nary evaluate RUN --record FOLDER"
        )
    if json:
        print_json(read_results(folder))
    elif out is None:
        typer.echo(results_page(folder))
    else:
        with atomic_path(out) as temporary:
            temporary.write_text(results_page(folder), encoding="utf-8")
