"""Pictures of a fact as a graph: plain SVG written here, PNG drawn with matplotlib (extra ``plots``)."""

from pathlib import Path

from nary.apps.drawing.layout import lay_out
from nary.apps.drawing.png import write_png
from nary.apps.drawing.svg import to_svg
from nary.data.files import atomic_path
from nary.errors import OutputError
from nary.facts import Fact, Query
from nary.facts.graph import fact_graph

__all__ = ["draw_fact", "fact_svg"]


def draw_fact(fact: Fact | Query, path: Path, variant: str = "hete") -> None:
    """Draw ``fact`` as a graph; ``path`` ends in .svg or .png."""
    kind = path.suffix.lower()
    if kind not in (".svg", ".png"):
        raise OutputError(f"cannot draw {path.name}", "Let the name of the picture end in .svg or .png.")
    with atomic_path(path) as temporary:
        if kind == ".svg":
            temporary.write_text(fact_svg(fact, variant), encoding="utf-8", newline="\n")
        else:
            write_png(lay_out(fact_graph(fact, variant), str(fact)), temporary)


def fact_svg(fact: Fact | Query, variant: str = "hete") -> str:
    """The picture of ``fact`` as the text of an SVG file."""
    return to_svg(lay_out(fact_graph(fact, variant), str(fact)))
