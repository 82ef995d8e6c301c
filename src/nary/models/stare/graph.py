"""The message graph: the facts learned from, arranged so that sums of messages are cheap.

Shapes: E entities, R relations, n edges, C compositions, P pairs of an attribute and a value, G messages, d width.
A *composition* is what an edge says: a relation with its qualifiers. Edges with the same composition share its vector.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from nary.facts import FactTable
from nary.facts.layout import OBJECT, RELATION, SUBJECT
from nary.facts.table import number_rows
from nary.models.base import DatasetInfo

if TYPE_CHECKING:
    from nary.models.stare.model import StareSettings


class MessageGraph(nn.Module):
    """The facts as edges between subjects and objects, in both directions."""

    def __init__(self, settings: "StareSettings", info: DatasetInfo) -> None:
        super().__init__()
        self.relation_weight = settings.relation_weight
        with torch.device("cpu"):
            self._build(*_compositions(info.facts), settings, info)

    def messages(self, x: Tensor, relations: Tensor, qualifier_weight: Tensor) -> list[tuple[Tensor, Tensor]]:
        """For each direction the receivers of messages [k], and the sum of the messages to each [k, d].

        ``x`` [E, d] are the entities, ``relations`` [2R, d] the relations, then their inverses. The vectors of
        qualifiers are multiplied with ``qualifier_weight`` [d, d].
        """
        pairs = rotate(self.pair_values(x), self.pair_attributes(relations))  # [P, d]
        qualifiers = self.composition_pairs(product(pairs, qualifier_weight))  # [C, d]; products first: P is small
        return [
            (direction.receivers, direction(x, torch.lerp(qualifiers, relation_of(relations), self.relation_weight)))
            for direction, relation_of in ((self.to_subjects, self.relation_of), (self.to_objects, self.inverse_of))
        ]

    def _build(
        self, edges: Tensor, relations: Tensor, qualifiers: Tensor, settings: "StareSettings", info: DatasetInfo
    ) -> None:
        """Build the sparse matrices from the results of :func:`_compositions`."""
        self.num_edges, self.num_compositions = len(edges), len(relations)
        entity_rows = info.num_entities + settings.padding
        relation_rows = 2 * info.num_relations + settings.padding
        pairs, pair_of = torch.unique(qualifiers[:, 1:], dim=0, return_inverse=True)
        numbers = torch.arange(len(pairs))
        self.pair_attributes = SparseMatrix(numbers, pairs[:, 0], (len(pairs), relation_rows))
        self.pair_values = SparseMatrix(numbers, pairs[:, 1], (len(pairs), entity_rows))
        self.composition_pairs = SparseMatrix(qualifiers[:, 0], pair_of, (len(relations), len(pairs)))
        numbers = torch.arange(len(relations))
        self.relation_of = SparseMatrix(numbers, relations, (len(relations), relation_rows))
        self.inverse_of = SparseMatrix(numbers, info.num_relations + relations, (len(relations), relation_rows))
        compositions, subjects, objects = edges.T
        shape = (entity_rows, len(relations))
        self.to_subjects = Direction(subjects, objects, compositions, shape, settings.degree_norm)
        self.to_objects = Direction(objects, subjects, compositions, shape, settings.degree_norm)


class Direction(nn.Module):
    """One direction of the graph: a receiver gets the sum over its edges of weight * (sender rotated by composition).

    Rotations are linear. So senders with the same composition for one receiver are summed first, or a message from one
    sender to many receivers is computed once: whichever makes fewer messages. Edges without weight are left out.
    """

    receivers: Tensor

    def __init__(
        self, receivers: Tensor, senders: Tensor, compositions: Tensor, sizes: tuple[int, int], degree_norm: str
    ) -> None:
        """Ids [n] and the numbers of entities and compositions; ``degree_norm`` as in the settings."""
        super().__init__()
        entities, kinds = sizes
        weights = _edge_weights(receivers, senders, entities, degree_norm)
        used = weights > 0
        receivers, senders, compositions, weights = (part[used] for part in (receivers, senders, compositions, weights))
        distinct, place = torch.unique(receivers, return_inverse=True)
        by_sender, by_receiver = (
            torch.unique(end * kinds + compositions, return_inverse=True) for end in (senders, receivers)
        )
        from_senders = len(by_sender[0]) < len(by_receiver[0])
        keys, message = by_sender if from_senders else by_receiver
        ends, kind, numbers = keys // kinds, keys % kinds, torch.arange(len(keys))
        if from_senders:
            self.sent = SparseMatrix(numbers, ends, (len(keys), entities))
            self.received = SparseMatrix(place, message, (len(distinct), len(keys)), weights)
        else:
            self.sent = SparseMatrix(message, senders, (len(keys), entities), weights)
            self.received = SparseMatrix(torch.searchsorted(distinct, ends), numbers, (len(distinct), len(keys)))
        self.said = SparseMatrix(numbers, kind, (len(keys), kinds))
        self.register_buffer("receivers", distinct, persistent=False)

    def forward(self, x: Tensor, compositions: Tensor) -> Tensor:
        """Entities [E, d] and compositions [C, d] -> the sum of messages to each of ``receivers`` [k, d]."""
        messages = rotate(self.sent(x), self.said(compositions))  # [G, d]
        received: Tensor = self.received(messages)
        return received


class SparseMatrix(nn.Module):
    """A constant sparse matrix [n, m], stored by rows and by columns, so that gradients are products like the others.

    A row of a product is a sum of a few rows, computed without gathering them.
    """

    def __init__(self, rows: Tensor, columns: Tensor, shape: tuple[int, int], values: Tensor | None = None) -> None:
        super().__init__()
        values = torch.ones(len(rows)) if values is None else values
        for name, keys, others, size in (("row", rows, columns, shape[0]), ("column", columns, rows, shape[1])):
            order = keys.argsort(stable=True)
            starts = torch.searchsorted(keys[order], torch.arange(size))
            for part, content in (("others", others[order]), ("starts", starts), ("values", values[order])):
                self.register_buffer(f"{name}_{part}", content, persistent=False)

    def forward(self, dense: Tensor) -> Tensor:
        """[m, d] -> [n, d]"""
        result: Tensor = _SparseProduct.apply(dense, self)  # type: ignore[no-untyped-call]
        return result

    def sums(self, dense: Tensor, by: str) -> Tensor:
        """For each ``"row"``, or ``"column"``, the weighted sum of the rows of ``dense`` that its entries refer to."""
        others, starts, values = (getattr(self, f"{by}_{part}") for part in ("others", "starts", "values"))
        values = values.to(dense.dtype)
        return nn.functional.embedding_bag(others, dense, starts, mode="sum", per_sample_weights=values)


class _SparseProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: SparseMatrix) -> Tensor:
        ctx.matrix = matrix
        return matrix.sums(dense, "row")

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return ctx.matrix.sums(grad.contiguous(), "column"), None


def product(vectors: Tensor, weight: Tensor) -> Tensor:
    """[n, d] times [d, e]; under autocast the result has the precision of the vectors, since it will be summed."""
    return (vectors @ weight).to(vectors.dtype)


def rotate(vectors: Tensor, by: Tensor) -> Tensor:
    """The products [n, d] of vectors of complex numbers, each of two neighboring coordinates.

    The published code pairs a coordinate of the first half with one of the second: the same up to the order of
    coordinates.
    """
    first, second = (torch.view_as_complex(one.view(len(one), one.shape[1] // 2, 2)) for one in (vectors, by))
    return torch.view_as_real(first * second).flatten(-2)


def rotation_times(vector: Tensor, matrix: Tensor) -> Tensor:
    """The matrix [d, e] with x @ result = rotate(x, vector) @ matrix, for ``vector`` [d] and ``matrix`` [d, e]."""
    real, imaginary = vector.view(-1, 2, 1).unbind(1)
    upper, lower = matrix.view(-1, 2, matrix.shape[1]).unbind(1)
    return torch.stack([real * upper + imaginary * lower, real * lower - imaginary * upper], 1).flatten(0, 1)


def _compositions(facts: FactTable) -> tuple[Tensor, Tensor, Tensor]:
    """The facts as edges.

    They are [n, 3], the composition, subject and object of each fact; the relation of each composition [C]; and the
    composition, attribute and value of each qualifier [k, 3].
    """
    edges, relations, qualifiers, count = [], [], [], 0
    for block in facts.blocks:
        said = np.delete(block.ids, [SUBJECT, OBJECT], axis=1)  # relation, attributes, values
        _, first, numbers = np.unique(number_rows([said])[0], return_index=True, return_inverse=True)
        edges.append(np.column_stack([count + numbers, block.ids[:, SUBJECT], block.ids[:, OBJECT]]))
        relations.append(block.ids[first, RELATION])
        repeated = np.repeat(count + np.arange(len(first)), block.qualifiers)
        qualifiers.append(np.column_stack([repeated, block.attributes[first].ravel(), block.values[first].ravel()]))
        count += len(first)
    arrays = (np.concatenate(part).astype(np.int64) for part in (edges, relations, qualifiers))
    return tuple(torch.from_numpy(array) for array in arrays)  # type: ignore[return-value]


def _edge_weights(receivers: Tensor, senders: Tensor, entities: int, degree_norm: str) -> Tensor:
    """The weight of each edge [n]: one over the root of the degrees of its ends."""
    received = torch.bincount(receivers, minlength=entities)
    sent = received if degree_norm == "received" else torch.bincount(senders, minlength=entities)
    degrees = received[receivers] * sent[senders]
    return torch.where(degrees > 0, degrees.float().rsqrt(), 0.0)
