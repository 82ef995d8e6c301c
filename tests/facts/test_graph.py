"""The fact as a typed graph."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.errors import SettingError
from nary.facts import GAP, Fact, FactTable, Position, Query, Role, Vocabulary
from nary.facts.graph import VARIANTS, EdgeType, edge_matrix, fact_graph

FACT = Fact("Ada", "wrote", "Notes", [("year", "1843"), ("about", "Engine")])  # sorted: about, then year


def test_the_matrix_without_qualifiers() -> None:
    # relation, subject, object
    expected = [[0, 1, 2], [1, 0, 0], [2, 0, 0]]
    assert edge_matrix(0).tolist() == expected


def test_the_matrix_with_one_qualifier() -> None:
    # relation, subject, object, attribute, value
    expected = [
        [0, 1, 2, 3, 0],
        [1, 0, 0, 0, 0],
        [2, 0, 0, 0, 0],
        [3, 0, 0, 0, 4],
        [0, 0, 0, 4, 0],
    ]
    assert edge_matrix(1).tolist() == expected


def test_the_matrix_with_two_qualifiers() -> None:
    # relation, subject, object, attributes 1 and 2, values 1 and 2
    expected = [
        [0, 1, 2, 3, 3, 0, 0],
        [1, 0, 0, 0, 0, 0, 0],
        [2, 0, 0, 0, 0, 0, 0],
        [3, 0, 0, 0, 0, 4, 0],
        [3, 0, 0, 0, 0, 0, 4],
        [0, 0, 0, 4, 0, 0, 0],
        [0, 0, 0, 0, 4, 0, 0],
    ]
    found = edge_matrix(2, "hete")
    assert found.tolist() == expected
    assert found.dtype == np.int64


@pytest.mark.parametrize("qualifiers", [0, 1, 2, 5])
def test_the_other_variants_see_less(qualifiers: int) -> None:
    hete = edge_matrix(qualifiers)
    assert np.array_equal(edge_matrix(qualifiers, "homo"), hete > 0)
    assert np.array_equal(edge_matrix(qualifiers, "complete"), np.zeros_like(hete))


@given(st.integers(0, 12), st.sampled_from(VARIANTS))
def test_no_direction_and_no_loops(qualifiers: int, variant: str) -> None:
    matrix = edge_matrix(qualifiers, variant)
    assert matrix.shape == (2 * qualifiers + 3, 2 * qualifiers + 3)
    assert np.array_equal(matrix, matrix.T)
    assert not matrix.diagonal().any()
    if variant != "complete":  # a tree: one edge fewer than vertices, each counted twice
        assert np.count_nonzero(matrix) == 2 * (2 * qualifiers + 2)


def test_vertices_stand_in_the_order_of_a_block() -> None:
    graph = fact_graph(FACT)
    assert [(str(vertex.position), vertex.element) for vertex in graph.vertices] == [
        ("relation", "wrote"),
        ("subject", "Ada"),
        ("object", "Notes"),
        ("attribute 1", "about"),
        ("attribute 2", "year"),
        ("value 1", "Engine"),
        ("value 2", "1843"),
    ]
    names = Vocabulary.of(["Ada", "Notes", "1843", "Engine"], ["wrote", "year", "about"])
    (block,) = FactTable.from_facts([FACT], names).blocks
    entities = set(block.entity_columns)
    row = [(names.entities if i in entities else names.relations)[id] for i, id in enumerate(block.ids[0])]
    assert row == [vertex.element for vertex in graph.vertices]


def test_the_edges_of_a_fact() -> None:
    assert [(str(edge.first), str(edge.second), edge.type, edge.label) for edge in fact_graph(FACT).edges] == [
        ("subject", "relation", EdgeType.SUBJECT_RELATION, "subject-relation"),
        ("object", "relation", EdgeType.OBJECT_RELATION, "object-relation"),
        ("relation", "attribute 1", EdgeType.RELATION_ATTRIBUTE, "relation-attribute"),
        ("relation", "attribute 2", EdgeType.RELATION_ATTRIBUTE, "relation-attribute"),
        ("attribute 1", "value 1", EdgeType.ATTRIBUTE_VALUE, "attribute-value"),
        ("attribute 2", "value 2", EdgeType.ATTRIBUTE_VALUE, "attribute-value"),
    ]
    assert [int(edge.type) for edge in fact_graph(FACT).edges] == [1, 2, 3, 3, 4, 4]


def test_homo_keeps_the_edges_and_complete_joins_all() -> None:
    pairs = [(edge.first, edge.second) for edge in fact_graph(FACT).edges]
    homo = fact_graph(FACT, "homo")
    assert [(edge.first, edge.second) for edge in homo.edges] == pairs
    assert {(int(edge.type), edge.label) for edge in homo.edges} == {(1, "edge")}
    complete = fact_graph(FACT, "complete")
    joined = {frozenset((edge.first, edge.second)) for edge in complete.edges}
    assert len(complete.edges) == len(joined) == 7 * 6 / 2
    assert {(edge.type, edge.label) for edge in complete.edges} == {(EdgeType.NONE, "untyped")}


@pytest.mark.parametrize("position", list(FACT.elements()), ids=str)
def test_a_gap_keeps_its_ordinary_edges(position: Position) -> None:
    query = FACT.query(position)
    graph = fact_graph(query)
    assert [vertex.position for vertex in graph.vertices if vertex.is_gap] == list(query.gaps)
    assert graph.edges == fact_graph(FACT).edges


def test_a_question_mark_is_no_gap() -> None:
    graph = fact_graph(Query("?", "wrote", GAP))
    assert [(vertex.role, vertex.is_gap) for vertex in graph.vertices] == [
        (Role.RELATION, False),
        (Role.SUBJECT, False),
        (Role.OBJECT, True),
    ]


@given(st.integers(0, 8), st.sampled_from(VARIANTS))
def test_graph_and_matrix_agree(qualifiers: int, variant: str) -> None:
    graph = fact_graph(Fact("s", "r", "o", [(f"a{i}", f"v{i}") for i in range(qualifiers)]), variant)
    place = {vertex.position: i for i, vertex in enumerate(graph.vertices)}
    matrix = np.zeros((len(place), len(place)), np.int64)
    for edge in graph.edges:
        matrix[place[edge.first], place[edge.second]] = matrix[place[edge.second], place[edge.first]] = edge.type
    assert np.array_equal(matrix, edge_matrix(qualifiers, variant))


def test_an_unknown_variant() -> None:
    with pytest.raises(SettingError, match="Did you mean hete"):
        edge_matrix(1, "hetero")
    with pytest.raises(SettingError, match=r"unknown variant 'full'.*\nKnown: hete, homo, complete"):
        fact_graph(FACT, "full")
