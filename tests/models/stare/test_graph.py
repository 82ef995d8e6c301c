"""The message graph: cheap sums against messages made one by one."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from models.stare.small import INFO, every_group, facts, make
from reference.stare import edge_weights
from reference.stare import rotate as reference_rotate

from nary.facts import FactTable
from nary.models.stare.graph import Direction, SparseMatrix, rotate, rotation_times


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 6), columns=st.integers(1, 6), entries=st.integers(0, 20))
def test_a_sparse_product_is_the_dense_one(seed: int, rows: int, columns: int, entries: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    places = [torch.randint(high, (entries,), generator=generator) for high in (rows, columns)]
    values = torch.randn(entries, dtype=torch.float64, generator=generator)
    dense = torch.zeros(rows, columns, dtype=torch.float64).index_put(tuple(places), values, accumulate=True)
    x = torch.randn(columns, 3, dtype=torch.float64, generator=generator).requires_grad_()
    weights = torch.randn(rows, 3, dtype=torch.float64, generator=generator)
    found = SparseMatrix(*places, (rows, columns), values)(x)
    torch.testing.assert_close(found, dense @ x)
    torch.testing.assert_close(*(torch.autograd.grad((y * weights).sum(), x)[0] for y in (found, dense @ x)))


def test_rotations_by_hand() -> None:
    x = torch.tensor([[1.0, 2.0, 3.0, -1.0]])  # 1 + 2i, 3 - i
    by = torch.tensor([[0.0, 1.0, 2.0, 1.0]])  # i, 2 + i
    assert rotate(x, by).tolist() == [[-2.0, 1.0, 7.0, 1.0]]
    matrix = torch.randn(4, 3)
    torch.testing.assert_close(x @ rotation_times(by[0], matrix), rotate(x, by) @ matrix)


MANY_TO_ONE = ([0] * 6, [1, 2, 3, 4, 5, 6])  # receivers, senders
ONE_TO_MANY = MANY_TO_ONE[::-1]


@pytest.mark.parametrize(("ends", "messages"), [(MANY_TO_ONE, 2), (ONE_TO_MANY, 2)])
def test_equal_messages_are_made_once(ends: tuple[list[int], list[int]], messages: int) -> None:
    receivers, senders = (torch.tensor(end) for end in ends)
    kinds = torch.tensor([0, 0, 0, 1, 1, 1])
    direction = Direction(receivers, senders, kinds, (7, 2), "both").double()
    x, said = torch.randn(7, 4, dtype=torch.float64), torch.randn(2, 4, dtype=torch.float64)
    assert direction.sent(x).shape[0] == messages
    each = rotate(x[senders], said[kinds]) / 6**0.5  # one end has six edges, the other one
    expected = torch.zeros(7, 4, dtype=torch.float64).index_add(0, receivers, each)
    torch.testing.assert_close(direction(x, said), expected[direction.receivers])


def test_the_weights_of_edges_by_hand() -> None:
    """0 <- 1, 0 <- 2, 1 <- 2: who receives nothing sends nothing, as published."""
    receivers, senders = torch.tensor([0, 0, 1]), torch.tensor([1, 2, 2])
    x = torch.eye(4)[:3]  # as complex numbers 1 is at places 0 and 2: rotated by ones they stay what they are
    ones = torch.tensor([[1.0, 0.0, 1.0, 0.0]])

    def received(degrees: str) -> dict[int, list[float]]:
        direction = Direction(receivers, senders, torch.zeros(3, dtype=torch.int64), (3, 1), degrees)
        return dict(zip(direction.receivers.tolist(), direction(x, ones).tolist(), strict=True))

    assert received("received") == {0: pytest.approx([0, 2**-0.5, 0, 0])}
    assert received("both") == {
        0: pytest.approx([0, 2**-0.5, 4**-0.5, 0]),
        1: pytest.approx([0, 0, 2**-0.5, 0]),
    }
    assert edge_weights(receivers, senders, 3).tolist() == pytest.approx([2**-0.5, 0, 0])


def test_both_degrees_send_messages_from_everybody() -> None:
    """With weights of their own the published code would have sent them: compared one by one."""
    table = facts()
    model = make(table, degree_norm="both", relation_weight=0.6).eval()
    assert model.encoder is not None
    graph, layer = model.encoder.graph, model.encoder.layers[0]
    x, relations = model.entity_embedding, model.relation_embedding
    halves = torch.arange(8).view(-1, 2).T.flatten()
    expected = torch.zeros_like(x)
    rows = [row.tolist() for block in table.blocks for row in block.ids]
    subjects, objects = ([row[place] for row in rows] for place in (1, 2))
    for row in rows:
        m = (len(row) - 3) // 2
        pairs = zip(row[3 : 3 + m], row[3 + m :], strict=True)
        qualifiers = sum((reference_rotate(x[v][halves], relations[a][halves]) for a, v in pairs), torch.zeros(8))
        weight = layer.qualifier_weight[halves][:, halves]
        said = 0.6 * relations[row[0]][halves] + 0.4 * (qualifiers.double() @ weight)
        share = (subjects.count(row[1]) * objects.count(row[2])) ** -0.5
        expected[row[1], halves] += share * reference_rotate(x[row[2]][halves], said)
    (receivers, found), _ = graph.messages(x, relations, layer.qualifier_weight)
    assert receivers.tolist() == sorted(set(subjects))
    torch.testing.assert_close(found, expected[receivers])


def test_facts_with_the_same_relation_and_qualifiers_share_a_composition() -> None:
    table = facts()
    model = make(table)
    assert model.encoder is not None
    said = {(block.qualifiers, *row) for block in table.blocks for row in np.delete(block.ids, [1, 2], axis=1).tolist()}
    assert model.encoder.graph.num_compositions == len(said) < model.encoder.graph.num_edges == len(table)


@pytest.mark.parametrize("counts", [(5,), (0, 5)], ids=["triples only", "qualifiers only"])
def test_graphs_of_one_arity(counts: tuple[int, ...]) -> None:
    table = facts(counts=counts)
    model = make(table)
    model.encode(every_group(table)).sum().backward()
    assert model.entity_embedding.grad is not None
    assert model.entity_embedding.grad.isfinite().all()


def test_a_graph_in_which_nobody_sends() -> None:
    """Subjects that are never objects: with the published degrees no message is left."""
    heads = np.array([[0, 0, 1], [1, 2, 3]], np.int32)
    table = FactTable.from_columns(heads, np.zeros(2, np.int64), np.zeros((0, 2), np.int32))
    model = make(table)
    assert model.score(every_group(table), "entity").shape == (6, INFO.num_entities)
