"""``nary compare``: runs side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.options import Json
from nary.apps.cli.output import notice, print_json, say
from nary.errors import OutputError

if TYPE_CHECKING:
    from nary.reproduction.comparison import Comparison

_TEXT_FORMATS = {".csv": "csv", ".json": "json", ".tex": "latex", ".md": "markdown"}
_PLOT_FORMATS = (".png", ".svg")


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", show_default=False, help="Run folders, model folders or result records."),
    ],
    split: Annotated[str, typer.Option("--split", help="The split that the runs were evaluated on.")] = "test",
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Compare reports under another protocol: evaluation.candidates=seen"
        ),
    ] = None,
    reach: Annotated[
        float | None,
        typer.Option("--reach", metavar="MRR", help="Also show the training time until this MRR was reached on valid."),
    ] = None,
    significance: Annotated[
        bool,
        typer.Option(
            "--significance", help="Rank all queries again and compare each recipe with the best by bootstrap."
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="Also write a table (.csv, .json, .tex, .md) or a plot (.png, .svg)."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Compare evaluated runs, best first, with a star after the best value of each column.

    Runs that differ only in the seed are also combined, with mean and standard deviation.

    Example: nary compare runs/nobel-gran runs/nobel-ram --out models.md
    """
    from nary.config import parse_overrides
    from nary.reproduction.compared_run import read_runs
    from nary.reproduction.comparison import Comparison

    known = (*_TEXT_FORMATS, *_PLOT_FORMATS)
    if out is not None and out.suffix.lower() not in known:
        raise OutputError(f"cannot write {out.name}: unknown file extension", f"Expected {', '.join(known)}.")
    comparison = Comparison(split, read_runs(runs, split, parse_overrides(set_ or []), rank=significance), reach)
    if out is not None:
        _write(comparison, out)
    if json:
        print_json(comparison.as_dict())
        return
    say(comparison.text())
    for line in comparison.below:
        notice(line) if line in comparison.warnings else say(line)
    if out is not None:
        notice(f"wrote {out}")


def _write(comparison: "Comparison", out: Path) -> None:
    from nary.files.writing import atomic_path

    extension = out.suffix.lower()
    if extension in _PLOT_FORMATS:
        comparison.plot(out)
        return
    text = getattr(comparison, _TEXT_FORMATS[extension])()
    with atomic_path(out) as temporary:
        temporary.write_text(text, encoding="utf-8")
