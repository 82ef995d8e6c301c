"""How pictures look: a color for each role, and a color and a dash pattern for each kind of edge."""

from dataclasses import dataclass, replace

from nary.facts import Role
from nary.facts.graph import Vertex

FONTS = "Inter, 'Segoe UI', 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif"
LABEL_SIZE = 14.0
GAP_SIZE = 19.0
CAPTION_SIZE = 10.0
LEGEND_SIZE = 12.0
LINE_HEIGHT = 17.0
SAMPLE = 36.0
"""The length of a line in the legend."""

PAPER = "#fcfcfd"
FRAME = "#e2e5ea"
INK = "#1f2937"
QUIET = "#4b5563"


@dataclass(frozen=True)
class Stroke:
    """The look of a line; ``dash`` holds lengths of drawn and empty pieces in turn, nothing for a solid line."""

    color: str
    width: float = 2.2
    dash: tuple[float, ...] = ()
    opacity: float = 1.0


@dataclass(frozen=True)
class Paint:
    """The look of a vertex."""

    fill: str
    border: Stroke
    caption: str
    label: str = INK
    label_size: float = LABEL_SIZE


EDGES = {
    "subject-relation": Stroke("#3b7ddd"),
    "object-relation": Stroke("#179c7d", dash=(10, 6)),
    "relation-attribute": Stroke("#e08a1e", 2.8, dash=(0.1, 5.4)),
    "attribute-value": Stroke("#b04fb5", dash=(9, 5, 0.1, 5)),
    "edge": Stroke("#56637a"),
    "untyped": Stroke("#5d6c86", 1.2, opacity=0.5),
}
"""By the label of the edge; dashes have round ends, so a piece of almost no length is a dot."""

GAP_SAMPLE = Stroke(QUIET, 1.4, dash=(3, 3.5))

_VERTICES = {
    Role.RELATION: Paint("#2b3a67", Stroke("#2b3a67", 1.8), "#c3cdf0", "#ffffff"),
    Role.SUBJECT: Paint("#e6f0ff", Stroke("#3b7ddd", 1.8), "#2257a8"),
    Role.OBJECT: Paint("#def5ee", Stroke("#179c7d", 1.8), "#0c6b55"),
    Role.ATTRIBUTE: Paint("#fff1db", Stroke("#e08a1e", 1.8), "#94560a"),
    Role.VALUE: Paint("#f7e9f7", Stroke("#b04fb5", 1.8), "#7e2f83"),
}


def paint(vertex: Vertex) -> Paint:
    """The look of a vertex: its role gives the colors, and a gap is empty with a dashed border."""
    look = _VERTICES[vertex.role]
    if not vertex.is_gap:
        return look
    ink = look.border.color if vertex.role is Role.RELATION else look.caption
    return Paint("#ffffff", replace(look.border, dash=(5, 5)), ink, ink, GAP_SIZE)
