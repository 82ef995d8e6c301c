"""Where the vertices, edges and legend of a picture go. The relation is at the origin.

Facts become a tree: subject, relation and object in the first row, below them the qualifiers on both sides of the
relation, so that relations stand inside and entities outside. In the variant ``complete``, where everything is joined
to everything, the vertices surround the room that the edges need.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from nary.apps.drawing.labels import fit, text_width
from nary.apps.drawing.picture import Box, Curve, Entry, Picture, Point
from nary.apps.drawing.routes import across, along
from nary.apps.drawing.style import LEGEND_SIZE, LINE_HEIGHT
from nary.facts import Position, Role
from nary.facts.graph import FactGraph

_MARGIN = 36.0
_PADDING = 20.0  # beside a label, inside its vertex
_NARROWEST = 104.0
_LINK = 64.0  # the length of the shortest edge in a row
_BETWEEN_ROWS = 28.0
_BELOW_FIRST_ROW = 18.0  # more room below the relation, where many edges begin
_BELOW_LAST_ATTRIBUTE = 10.0
_HALL = 300.0  # between the two columns of a complete graph
_LEGEND_ROW = 24.0
_LEGEND_GAP = 26.0


def lay_out(graph: FactGraph, title: str) -> Picture:
    """The picture of ``graph``."""
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
    routes = [across(*pair) if complete else along(*pair, rows=qualifiers // 2) for pair in ends]
    curves = tuple(Curve(route, edge.label) for route, edge in zip(routes, graph.edges, strict=True))
    right = max(max(box.right, -box.left) for box in boxes.values())
    legend = _legend(graph, 2 * right, max(box.bottom for box in boxes.values()) + 42)
    top = -sizes.height / 2 - _MARGIN
    height = legend[-1].start[1] + 30 - top
    return Picture(title, (-right - _MARGIN, top), 2 * (right + _MARGIN), height, tuple(boxes.values()), curves, legend)


@dataclass(frozen=True)
class _Sizes:
    """Vertices of one kind are equally wide, and all are equally high, so that rows and columns line up."""

    relation: float
    attribute: float
    entity: float
    height: float
    lines: Mapping[Position, tuple[str, ...]]

    @classmethod
    def of(cls, graph: FactGraph) -> "_Sizes":
        lines = {v.position: ("?",) if v.is_gap else fit(str(v.element)) for v in graph.vertices}
        widths = {position: max(map(text_width, own)) + 2 * _PADDING for position, own in lines.items()}

        def widest(*roles: Role) -> float:
            return max([_NARROWEST, *(width for position, width in widths.items() if position.role in roles)])

        height = 50.0 + LINE_HEIGHT * (max(map(len, lines.values())) - 1)
        entity = widest(Role.SUBJECT, Role.OBJECT, Role.VALUE)
        return cls(widest(Role.RELATION), widest(Role.ATTRIBUTE), entity, height, lines)

    def width(self, role: Role) -> float:
        return self.entity if role.is_entity else self.attribute if role is Role.ATTRIBUTE else self.relation

    def row(self, number: int) -> float:
        """The middle of a row; the first, number 0, holds the relation."""
        return number * (self.height + _BETWEEN_ROWS) + (_BELOW_FIRST_ROW if number else 0.0)


def _tree(qualifiers: int, sizes: _Sizes) -> dict[Position, Point]:
    """Qualifiers in pairs to the left and right; one without a partner stands below them, in the middle."""
    attribute = _LINK + 6 * (qualifiers // 2) + sizes.attribute / 2
    entity = sizes.relation / 2 + 1.4 * _LINK + sizes.entity / 2
    if qualifiers > 1:
        entity = max(entity, attribute + sizes.attribute / 2 + _LINK + sizes.entity / 2)
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
    """The relation on top, below it subject and attributes on the left, object and values on the right."""
    hall = _HALL / 2 + 12 * qualifiers  # edges within a column swing out the further, the longer it is
    places = {Position(Role.RELATION): (0.0, 0.0)}
    for number in range(qualifiers + 1):
        left = Position(Role.ATTRIBUTE, number) if number else Position(Role.SUBJECT)
        right = Position(Role.VALUE, number) if number else Position(Role.OBJECT)
        places[left] = (-hall - sizes.width(left.role) / 2, sizes.row(number + 1))
        places[right] = (hall + sizes.width(right.role) / 2, sizes.row(number + 1))
    return places


def _legend(graph: FactGraph, width: float, top: float) -> tuple[Entry, ...]:
    """The kinds of edge in the picture, and the gap if there is one, in as many rows as they need."""
    labels: list[str | None] = list(dict.fromkeys(edge.label for edge in graph.edges))
    labels += [None] if any(vertex.is_gap for vertex in graph.vertices) else []
    entries = [Entry((0.0, 0.0), label) for label in labels]
    column = _LEGEND_GAP + max(entry.text_start[0] + text_width(entry.text, LEGEND_SIZE) for entry in entries)
    rows = ceil(len(entries) / max(1, int((width + _LEGEND_GAP) // column)))
    in_row = ceil(len(entries) / rows)
    left = -(in_row * column - _LEGEND_GAP) / 2
    return tuple(
        Entry((left + i % in_row * column, top + i // in_row * _LEGEND_ROW), entry.label)
        for i, entry in enumerate(entries)
    )
