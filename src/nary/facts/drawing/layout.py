"""Where everything in a picture goes: vertices, edges, legend, and labels broken into lines that fit.

The relation is at the origin. Facts become a tree: subject, relation and object in the first row, below them the
qualifiers on both sides of the relation, so that relations stand inside and entities outside. In the variant
``complete``, where every pair is connected, the vertices surround the space that the edges need.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, dist
from typing import TypeAlias

from nary.facts import Position, Role
from nary.facts.drawing.picture import LABEL_SIZE, LEGEND_SIZE, LINE_HEIGHT, Box, Curve, LegendEntry, Picture, Point
from nary.facts.graph import FactGraph

Route: TypeAlias = tuple[Point, Point, Point, Point]

_EDGE_SPACING = 9.0  # between edges that leave the relation side by side

MAX_LABEL_WIDTH = 190.0
"""The maximum width of a line of a label."""

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WIDTHS = {
    **dict.fromkeys("ijlI'|.,:;! ", 0.34),
    **dict.fromkeys('frtJ()[]{}-/\\"`*', 0.43),
    **dict.fromkeys("mMW@%", 0.98),
    **dict.fromkeys("wGOQ&+=<>~#_", 0.82),
}
_MARGIN = 36.0
_PADDING = 20.0  # beside a label, inside its vertex
_MIN_WIDTH = 104.0
_MIN_EDGE = 64.0  # the length of the shortest edge in a row
_BETWEEN_ROWS = 28.0
_BELOW_FIRST_ROW = 18.0  # more space below the relation, where many edges start
_BELOW_LAST_ATTRIBUTE = 10.0
_COLUMN_GAP = 300.0  # between the two columns of a complete graph
_LEGEND_ROW = 24.0
_LEGEND_GAP = 26.0


def lay_out(graph: FactGraph, title: str) -> Picture:
    """Place and size everything in the picture of ``graph``."""
    sizes = _Sizes.of(graph)
    complete = graph.variant == "complete"
    qualifiers = len(graph.vertices) // 2 - 1
    places = (_columns if complete else _tree)(qualifiers, sizes)
    boxes = {
        vertex.position: Box(
            vertex, places[vertex.position], sizes.width(vertex.role), sizes.height, sizes.lines[vertex.position]
        )
        for vertex in graph.vertices
    }
    ends = [(boxes[edge.first], boxes[edge.second]) for edge in graph.edges]
    routes = [_inside_route(*pair) if complete else _tree_route(*pair, rows=qualifiers // 2) for pair in ends]
    curves = tuple(Curve(route, edge.label) for route, edge in zip(routes, graph.edges, strict=True))
    right = max(max(box.right, -box.left) for box in boxes.values())
    legend = _legend(graph, 2 * right, max(box.bottom for box in boxes.values()) + 42)
    top = -sizes.height / 2 - _MARGIN
    height = legend[-1].start[1] + 30 - top
    return Picture(title, (-right - _MARGIN, top), 2 * (right + _MARGIN), height, tuple(boxes.values()), curves, legend)


@dataclass(frozen=True)
class _Sizes:
    """Vertices of one kind have equal width, and all have equal height, so that rows and columns line up."""

    relation: float
    attribute: float
    entity: float
    height: float
    lines: Mapping[Position, tuple[str, ...]]

    @classmethod
    def of(cls, graph: FactGraph) -> "_Sizes":
        lines = {v.position: ("?",) if v.is_gap else wrap_label(str(v.element)) for v in graph.vertices}
        widths = {position: max(map(text_width, label)) + 2 * _PADDING for position, label in lines.items()}

        def widest(*roles: Role) -> float:
            return max([_MIN_WIDTH, *(width for position, width in widths.items() if position.role in roles)])

        height = 50.0 + LINE_HEIGHT * (max(map(len, lines.values())) - 1)
        entity = widest(Role.SUBJECT, Role.OBJECT, Role.VALUE)
        return cls(widest(Role.RELATION), widest(Role.ATTRIBUTE), entity, height, lines)

    def width(self, role: Role) -> float:
        return self.entity if role.is_entity else self.attribute if role is Role.ATTRIBUTE else self.relation

    def row(self, number: int) -> float:
        """The middle of a row; the first, number 0, holds the relation."""
        return number * (self.height + _BETWEEN_ROWS) + (_BELOW_FIRST_ROW if number else 0.0)


def _tree(qualifiers: int, sizes: _Sizes) -> dict[Position, Point]:
    """Place qualifiers in pairs to the left and right, and the last one of an odd number below, in the middle."""
    attribute = _MIN_EDGE + 6 * (qualifiers // 2) + sizes.attribute / 2
    entity = sizes.relation / 2 + 1.4 * _MIN_EDGE + sizes.entity / 2
    if qualifiers > 1:
        entity = max(entity, attribute + sizes.attribute / 2 + _MIN_EDGE + sizes.entity / 2)
    places = {Position(Role.RELATION): (0.0, 0.0)}
    places |= {Position(Role.SUBJECT): (-entity, 0.0), Position(Role.OBJECT): (entity, 0.0)}
    for number in range(1, qualifiers + 1):
        row = (number + 1) // 2
        side = -1 if number % 2 else 1
        alone = side == -1 and number == qualifiers
        places[Position(Role.ATTRIBUTE, number)] = (0.0 if alone else side * attribute, sizes.row(row))
        below = (0.0, sizes.row(row + 1) + _BELOW_LAST_ATTRIBUTE)
        places[Position(Role.VALUE, number)] = below if alone else (side * entity, sizes.row(row))
    return places


def _columns(qualifiers: int, sizes: _Sizes) -> dict[Position, Point]:
    """Place the relation on top, below it subject and attributes on the left, object and values on the right."""
    inner = _COLUMN_GAP / 2 + 12 * qualifiers  # edges within a longer column bend further inwards
    places = {Position(Role.RELATION): (0.0, 0.0)}
    for number in range(qualifiers + 1):
        left = Position(Role.ATTRIBUTE, number) if number else Position(Role.SUBJECT)
        right = Position(Role.VALUE, number) if number else Position(Role.OBJECT)
        places[left] = (-inner - sizes.width(left.role) / 2, sizes.row(number + 1))
        places[right] = (inner + sizes.width(right.role) / 2, sizes.row(number + 1))
    return places


def _legend(graph: FactGraph, width: float, top: float) -> tuple[LegendEntry, ...]:
    """List the kinds of edge in the picture, and the gap if there is one, in as many rows as needed."""
    labels: list[str | None] = list(dict.fromkeys(edge.label for edge in graph.edges))
    labels += [None] if any(vertex.is_gap for vertex in graph.vertices) else []
    entries = [LegendEntry((0.0, 0.0), label) for label in labels]
    column = _LEGEND_GAP + max(entry.text_start[0] + text_width(entry.text, LEGEND_SIZE) for entry in entries)
    rows = ceil(len(entries) / max(1, int((width + _LEGEND_GAP) // column)))
    in_row = ceil(len(entries) / rows)
    left = -(in_row * column - _LEGEND_GAP) / 2
    return tuple(
        LegendEntry((left + i % in_row * column, top + i // in_row * _LEGEND_ROW), entry.label)
        for i, entry in enumerate(entries)
    )


def _tree_route(one: Box, other: Box, rows: int) -> Route:
    """Connect two boxes of a tree: straight along a row or column, or down from the relation and then sideways.

    Edges to lower ones of the ``rows`` rows start nearer to the middle, so that they pass between those to upper rows.
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
    x += side * min(_EDGE_SPACING, one.width / 2 / (rows + 1)) * (rows - row + 1)
    return (x, one.bottom), (x, to_y - 6), (x + 0.1 * (end[0] - x), to_y), end


def _inside_route(one: Box, other: Box) -> Route:
    """Connect two boxes through the space that the vertices surround, at right angles to their borders."""
    (start, (x, y)), (end, (to_x, to_y)) = _inner_border(one), _inner_border(other)
    swing = 0.4 * dist(start, end)
    return start, (start[0] + swing * x, start[1] + swing * y), (end[0] + swing * to_x, end[1] + swing * to_y), end


def _inner_border(box: Box) -> tuple[Point, Point]:
    """The middle of the border that faces the inner space, and the direction from there into it."""
    x, y = box.middle
    if x == 0:
        return (x, box.bottom), (0.0, 1.0)
    return ((box.right, y), (1.0, 0.0)) if x < 0 else ((box.left, y), (-1.0, 0.0))


def clean_text(text: str) -> str:
    """Replace the characters that XML does not allow, even escaped, by the replacement character."""
    return _NOT_IN_XML.sub("\ufffd", text)


def text_width(text: str, size: float = LABEL_SIZE) -> float:
    """Estimate the width of ``text``, rather too wide than too narrow: the font of the viewer is unknown."""
    return size * sum(map(_character_width, text))


def wrap_label(text: str, max_width: float = MAX_LABEL_WIDTH) -> tuple[str, ...]:
    """Break ``text`` into at most two lines of similar length, shortened with an ellipsis if it is longer."""
    words = clean_text(text).split() or ["\u2423"]  # a label of white space alone is shown as an open box
    line = " ".join(words)
    if text_width(line) <= max_width:
        return (line,)
    starts = list(accumulate((text_width(word + " ") for word in words), initial=0.0))
    cuts = range(1, len(words))
    cut = min(cuts, key=lambda i: max(starts[i], starts[-1] - starts[i]), default=0)
    if cut and max(starts[cut], starts[-1] - starts[cut]) <= max_width:
        return " ".join(words[:cut]), " ".join(words[cut:])
    return _two_full_lines(line, max_width)


def _two_full_lines(text: str, max_width: float) -> tuple[str, str]:
    """Fill the first line, breaking it at a space near its end if there is one, and the second as far as possible."""
    end = _num_fitting(text, max_width)
    space = text.rfind(" ", 0, end + 1)
    end = space if space > end // 2 else end
    first, rest = text[:end], text[end:].lstrip()
    if text_width(rest) > max_width:
        rest = rest[: _num_fitting(rest, max_width - text_width("…"))].rstrip() + "…"
    return first, rest


def _num_fitting(text: str, max_width: float) -> int:
    """The number of characters of ``text`` that fit."""
    return sum(width <= max_width for width in accumulate(map(text_width, text)))


def _character_width(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    return _WIDTHS.get(character, 0.74 if character.isupper() else 0.63)
