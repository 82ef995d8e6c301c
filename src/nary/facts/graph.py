"""The fact as a small graph: its elements are the vertices, and edges join those that belong together.

The relation stands in the middle, joined to the subject, to the object and to every attribute; every attribute is
joined to its value. A gap is a vertex like any other and keeps its edges, which tell what is missing. Three variants
say how much of this a model gets to see:

- ``hete``: each of the four kinds of edge has a type of its own;
- ``homo``: the same edges, all of type 1;
- ``complete``: every vertex is joined to every other one, and no edge has a type.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations

import numpy as np
import numpy.typing as npt

from nary.errors import SettingError, did_you_mean
from nary.facts.fact import GAP, Element, Fact, Position, Query, Role
from nary.facts.layout import OBJECT, RELATION, SUBJECT, attribute_columns, num_columns, value_columns

VARIANTS = ("hete", "homo", "complete")
"""The variants of the graph; the first is the default."""


class EdgeType(IntEnum):
    """What an edge joins. In the variant ``homo`` the type 1 stands for all four kinds."""

    NONE = 0
    SUBJECT_RELATION = 1
    OBJECT_RELATION = 2
    RELATION_ATTRIBUTE = 3
    ATTRIBUTE_VALUE = 4


@dataclass(frozen=True)
class Vertex:
    """One element of the fact, or a gap, at its position."""

    position: Position
    element: Element

    @property
    def role(self) -> Role:
        """The part the element plays."""
        return self.position.role

    @property
    def is_gap(self) -> bool:
        """Whether the element is missing."""
        return self.element is GAP


@dataclass(frozen=True)
class Edge:
    """Two joined vertices, by their positions. An edge has no direction; ``label`` is its type in words."""

    first: Position
    second: Position
    type: EdgeType
    label: str


@dataclass(frozen=True)
class FactGraph:
    """The vertices (relation, subject, object, attributes, values) and edges of one fact or query."""

    variant: str
    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]


def fact_graph(fact: Fact | Query, variant: str = "hete") -> FactGraph:
    """The graph of ``fact``.

    >>> graph = fact_graph(Fact("Curie", "award", "Physics", [("year", "1903")]))
    >>> [f"{edge.first}-{edge.second}" for edge in graph.edges]
    ['subject-relation', 'object-relation', 'relation-attribute 1', 'attribute 1-value 1']
    """
    vertices = tuple(Vertex(position, element) for position, element in fact.elements().items())
    edges = (
        Edge(vertices[first].position, vertices[second].position, type, _label(type, variant))
        for first, second, type in _edges(len(fact.qualifiers), variant)
    )
    return FactGraph(variant, vertices, tuple(edges))


def edge_matrix(qualifiers: int, variant: str = "hete") -> npt.NDArray[np.int64]:
    """The type of the edge between each two vertices of a fact with so many qualifiers, [T, T] with T = 2m+3.

    Vertices are ordered like the columns of a block of a fact table. The matrix is symmetric with a zero diagonal.
    """
    size = num_columns(qualifiers)
    matrix = np.zeros((size, size), np.int64)
    for first, second, type in _edges(qualifiers, variant):
        matrix[first, second] = matrix[second, first] = type
    return matrix


def _edges(qualifiers: int, variant: str) -> Iterator[tuple[int, int, EdgeType]]:
    """The edges of a fact with so many qualifiers, by the columns of the vertices they join."""
    if variant not in VARIANTS:
        raise SettingError(f"unknown variant {variant!r} of the fact graph", did_you_mean(variant, VARIANTS))
    if variant == "complete":
        for first, second in combinations(range(num_columns(qualifiers)), 2):
            yield first, second, EdgeType.NONE
        return
    for first, second, type in _joined(qualifiers):
        yield first, second, type if variant == "hete" else EdgeType(1)


def _joined(qualifiers: int) -> Iterator[tuple[int, int, EdgeType]]:
    yield SUBJECT, RELATION, EdgeType.SUBJECT_RELATION
    yield OBJECT, RELATION, EdgeType.OBJECT_RELATION
    for attribute in attribute_columns(qualifiers):
        yield RELATION, attribute, EdgeType.RELATION_ATTRIBUTE
    for attribute, value in zip(attribute_columns(qualifiers), value_columns(qualifiers), strict=True):
        yield attribute, value, EdgeType.ATTRIBUTE_VALUE


def _label(type: EdgeType, variant: str) -> str:
    if type is EdgeType.NONE:
        return "untyped"
    return "edge" if variant == "homo" else type.name.lower().replace("_", "-")
