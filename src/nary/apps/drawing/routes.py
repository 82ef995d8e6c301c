"""The ways of the edges from border to border of their vertices, as cubic Bézier curves."""

from math import dist
from typing import TypeAlias

from nary.apps.drawing.picture import Box, Point

Route: TypeAlias = tuple[Point, Point, Point, Point]

_APART = 9.0  # between edges that leave the relation side by side


def along(one: Box, other: Box, rows: int) -> Route:
    """Straight along a row or column; else from the relation down to one of ``rows`` rows and sideways.

    Edges to lower rows leave nearer to the middle, so that they pass between those to upper rows.
    """
    (x, y), (to_x, to_y) = one.middle, other.middle
    side = 1 if to_x > x else -1
    end = (to_x - side * other.width / 2, to_y)
    if y == to_y:
        start = (x + side * one.width / 2, y)
        return start, start, end, end
    if x == to_x:
        return (x, one.bottom), (x, one.bottom), (x, other.top), (x, other.top)
    row = (other.vertex.position.number + 1) // 2
    x += side * min(_APART, one.width / 2 / (rows + 1)) * (rows - row + 1)
    return (x, one.bottom), (x, to_y - 6), (x + 0.1 * (end[0] - x), to_y), end


def across(one: Box, other: Box) -> Route:
    """Through the room that the vertices surround, leaving and arriving at right angles to the borders."""
    (start, (x, y)), (end, (to_x, to_y)) = _inner_border(one), _inner_border(other)
    swing = 0.4 * dist(start, end)
    return start, (start[0] + swing * x, start[1] + swing * y), (end[0] + swing * to_x, end[1] + swing * to_y), end


def _inner_border(box: Box) -> tuple[Point, Point]:
    """The middle of the border that faces the room, and the way in: from above, from the left or from the right."""
    x, y = box.middle
    if x == 0:
        return (x, box.bottom), (0.0, 1.0)
    return ((box.right, y), (1.0, 0.0)) if x < 0 else ((box.left, y), (-1.0, 0.0))
