"""Draw a fact as a graph: SVG without dependencies, PNG with matplotlib (the extra ``plots``)."""

from pathlib import Path

from nary.errors import OutputError
from nary.facts import Fact, Query
from nary.facts.drawing.layout import lay_out
from nary.facts.drawing.png import write_png
from nary.facts.drawing.svg import picture_svg
from nary.facts.graph import fact_graph
from nary.files.writing import atomic_path

__all__ = ["draw_fact", "fact_svg"]


def draw_fact(fact: Fact | Query, path: Path, variant: str = "hete") -> None:
    """Draw ``fact`` as a graph; ``path`` ends in .svg or .png."""
    kind = path.suffix.lower()
    if kind not in (".svg", ".png"):
        raise OutputError(f"cannot draw {path.name}", "Use a file name that ends in .svg or .png.")
    with atomic_path(path) as temporary:
        if kind == ".svg":
            temporary.write_text(fact_svg(fact, variant), encoding="utf-8", newline="\n")
        else:
            write_png(lay_out(fact_graph(fact, variant), str(fact)), temporary)


def fact_svg(fact: Fact | Query, variant: str = "hete") -> str:
    """Draw ``fact`` as a graph and return the content of the SVG file."""
    return picture_svg(lay_out(fact_graph(fact, variant), str(fact)))
