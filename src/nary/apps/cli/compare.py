"""``nary compare``: runs side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.options import Json
from nary.apps.cli.output import notice, print_json
from nary.errors import OutputError

if TYPE_CHECKING:
    from nary.apps.comparing.comparison import Comparison

_TEXTS = {".csv": "csv", ".json": "json", ".tex": "latex", ".md": "markdown"}
_PICTURES = (".png", ".svg")


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", show_default=False, help="Run folders, model folders, or recorded results."),
    ],
    split: Annotated[str, typer.Option("--split", help="The split they were evaluated on.")] = "test",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Take reports by another protocol: evaluation.candidates=seen"),
    ] = None,
    reach: Annotated[
        float | None,
        typer.Option(
            "--reach", metavar="MRR", help="Also tell the seconds until valid had this MRR, by the run's validations."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="Also write FILE.csv, .json, .tex or .md, or draw FILE.png or .svg."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Compare runs that have been evaluated: the best first, the best figure of each column marked with a star.

    Example: nary compare runs/nobel-gran runs/nobel-ram --out models.md
    """
    from nary.apps.comparing.comparison import Comparison
    from nary.apps.comparing.reading import read_runs
    from nary.config import parse_overrides

    if out is not None and out.suffix.lower() not in (*_TEXTS, *_PICTURES):
        raise OutputError(
            f"cannot tell from its name how to write {out.name}", f"End it in {', '.join((*_TEXTS, *_PICTURES))}."
        )
    overrides = parse_overrides(set_ or [])
    comparison = Comparison(split, read_runs(runs, split, overrides), reach)
    if out is not None:
        _write(comparison, out)
    if json:
        print_json(comparison.as_dict())
        return
    typer.echo(comparison.table())
    for line in comparison.below:
        notice(line) if line in comparison.warnings else typer.echo(line)
    if out is not None:
        notice(f"wrote {out}")


def _write(comparison: "Comparison", out: Path) -> None:
    from nary.apps.comparing.plot import plot_comparison
    from nary.data.files import atomic_path

    kind = out.suffix.lower()
    if kind in _PICTURES:
        plot_comparison(comparison, out)
        return
    text = getattr(comparison, _TEXTS[kind])()
    with atomic_path(out) as temporary:
        temporary.write_text(text, encoding="utf-8")
