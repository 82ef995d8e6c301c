"""The parts of a picture, placed and sized, and how they style, independent of the output format.

Lengths are SVG pixels; y grows downwards. Each role has its colors, each kind of edge a color and a dash pattern.
"""

from dataclasses import dataclass, replace
from typing import TypeAlias

from nary.facts import Role
from nary.facts.graph import Vertex

Point: TypeAlias = tuple[float, float]

FONTS = "Inter, 'Segoe UI', 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif"
LABEL_SIZE = 14.0
GAP_SIZE = 19.0
CAPTION_SIZE = 10.0
LEGEND_SIZE = 12.0
LINE_HEIGHT = 17.0
SAMPLE_WIDTH = 36.0
"""The length of a sample line in the legend."""

BACKGROUND = "#fcfcfd"
FRAME = "#e2e5ea"
INK = "#1f2937"
MUTED = "#4b5563"


@dataclass(frozen=True)
class Stroke:
    """The style of a line; ``dash`` alternates the lengths of dashes and gaps and is empty for a solid line."""

    color: str
    width: float = 2.2
    dash: tuple[float, ...] = ()
    opacity: float = 1.0


@dataclass(frozen=True)
class VertexStyle:
    """The style of a vertex."""

    fill: str
    border: Stroke
    caption: str
    label: str = INK
    label_size: float = LABEL_SIZE


EDGE_STYLES = {
    "subject-relation": Stroke("#3b7ddd"),
    "object-relation": Stroke("#179c7d", dash=(10, 6)),
    "relation-attribute": Stroke("#e08a1e", 2.8, dash=(0.1, 5.4)),
    "attribute-value": Stroke("#b04fb5", dash=(9, 5, 0.1, 5)),
    "edge": Stroke("#56637a"),
    "untyped": Stroke("#5d6c86", 1.2, opacity=0.5),
}
"""By the label of the edge; dashes have round ends, so one of almost no length is a dot."""

GAP_STYLE = Stroke(MUTED, 1.4, dash=(3, 3.5))

_VERTEX_STYLES = {
    Role.RELATION: VertexStyle("#2b3a67", Stroke("#2b3a67", 1.8), "#c3cdf0", "#ffffff"),
    Role.SUBJECT: VertexStyle("#e6f0ff", Stroke("#3b7ddd", 1.8), "#2257a8"),
    Role.OBJECT: VertexStyle("#def5ee", Stroke("#179c7d", 1.8), "#0c6b55"),
    Role.ATTRIBUTE: VertexStyle("#fff1db", Stroke("#e08a1e", 1.8), "#94560a"),
    Role.VALUE: VertexStyle("#f7e9f7", Stroke("#b04fb5", 1.8), "#7e2f83"),
}


def vertex_style(vertex: Vertex) -> VertexStyle:
    """The style of a vertex: colors by role; a gap is empty with a dashed border."""
    style = _VERTEX_STYLES[vertex.role]
    if not vertex.is_gap:
        return style
    ink = style.border.color if vertex.role is Role.RELATION else style.caption
    return VertexStyle("#ffffff", replace(style.border, dash=(5, 5)), ink, ink, GAP_SIZE)


@dataclass(frozen=True)
class Box:
    """A vertex: its center, its size, and the lines of its label."""

    vertex: Vertex
    middle: Point
    width: float
    height: float
    lines: tuple[str, ...]

    @property
    def left(self) -> float:
        """The x of the left edge."""
        return self.middle[0] - self.width / 2

    @property
    def right(self) -> float:
        """The x of the right edge."""
        return self.middle[0] + self.width / 2

    @property
    def top(self) -> float:
        """The y of the upper edge."""
        return self.middle[1] - self.height / 2

    @property
    def bottom(self) -> float:
        """The y of the lower edge."""
        return self.middle[1] + self.height / 2

    @property
    def radius(self) -> float:
        """The radius of the corners; entities are rounder than relations."""
        return self.height / 2 if self.vertex.role.is_entity else 9.0

    @property
    def caption_baseline(self) -> float:
        """The y of the caption, which names the position."""
        return self.top + 17.0

    @property
    def baselines(self) -> list[float]:
        """The y of each line of the label."""
        middle = self.middle[1] + 8.0  # the caption is above
        first = middle - (len(self.lines) - 1) * LINE_HEIGHT / 2 + 0.36 * vertex_style(self.vertex).label_size
        return [first + i * LINE_HEIGHT for i in range(len(self.lines))]


@dataclass(frozen=True)
class Curve:
    """An edge: a cubic Bézier curve, and the label of the edge, which determines its style."""

    points: tuple[Point, Point, Point, Point]
    label: str


@dataclass(frozen=True)
class LegendEntry:
    """An entry of the legend: where its sample starts, and the label of its edges, or None for the gap."""

    start: Point
    label: str | None

    @property
    def end(self) -> Point:
        """Where its sample ends."""
        return self.start[0] + SAMPLE_WIDTH, self.start[1]

    @property
    def text(self) -> str:
        """The text beside the sample."""
        return self.label or "missing"

    @property
    def text_start(self) -> Point:
        """Where its text starts."""
        return self.end[0] + 10, self.start[1] + 4


@dataclass(frozen=True)
class Picture:
    """Everything to draw, and the visible area: its upper left corner and its size."""

    title: str
    corner: Point
    width: float
    height: float
    boxes: tuple[Box, ...]
    curves: tuple[Curve, ...]
    legend: tuple[LegendEntry, ...]
