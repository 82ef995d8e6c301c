"""The parts of a picture, placed and sized, whatever draws them. Lengths are pixels of an SVG; y grows downwards."""

from dataclasses import dataclass
from typing import TypeAlias

from nary.apps.drawing.style import LINE_HEIGHT, SAMPLE, paint
from nary.facts.graph import Vertex

Point: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A vertex: its middle, its size, and its label in lines."""

    vertex: Vertex
    middle: Point
    width: float
    height: float
    lines: tuple[str, ...]

    @property
    def left(self) -> float:
        """The left side."""
        return self.middle[0] - self.width / 2

    @property
    def right(self) -> float:
        """The right side."""
        return self.middle[0] + self.width / 2

    @property
    def top(self) -> float:
        """The upper side."""
        return self.middle[1] - self.height / 2

    @property
    def bottom(self) -> float:
        """The lower side."""
        return self.middle[1] + self.height / 2

    @property
    def radius(self) -> float:
        """Of the corners: entities are rounder than relations."""
        return self.height / 2 if self.vertex.role.is_entity else 9.0

    @property
    def caption_baseline(self) -> float:
        """Where the position is written."""
        return self.top + 17.0

    @property
    def baselines(self) -> list[float]:
        """Where each line of the label is written."""
        middle = self.middle[1] + 8.0  # the caption takes the room above
        first = middle - (len(self.lines) - 1) * LINE_HEIGHT / 2 + 0.36 * paint(self.vertex).label_size
        return [first + i * LINE_HEIGHT for i in range(len(self.lines))]


@dataclass(frozen=True)
class Curve:
    """An edge: a cubic Bézier curve, and the label of the edge, which says how it looks."""

    points: tuple[Point, Point, Point, Point]
    label: str


@dataclass(frozen=True)
class Entry:
    """An entry of the legend: where its sample begins, and the label of the edges it explains, or None for the gap."""

    start: Point
    label: str | None

    @property
    def end(self) -> Point:
        """Where its sample ends."""
        return self.start[0] + SAMPLE, self.start[1]

    @property
    def text(self) -> str:
        """What is written beside the sample."""
        return self.label or "missing"

    @property
    def text_start(self) -> Point:
        """Where its text begins."""
        return self.end[0] + 10, self.start[1] + 4


@dataclass(frozen=True)
class Picture:
    """Everything to draw, and the part of the plane that shows it: its upper left corner and its size."""

    title: str
    corner: Point
    width: float
    height: float
    boxes: tuple[Box, ...]
    curves: tuple[Curve, ...]
    legend: tuple[Entry, ...]
