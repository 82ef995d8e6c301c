"""Partial context in training: some instances lose qualifiers, so that a model learns to answer with part of a fact."""

import numpy as np
import numpy.typing as npt
import torch

from nary.facts import FactTable
from nary.facts.layout import FIRST_ATTRIBUTE
from nary.models.batch import Batch, Group

Array = npt.NDArray[np.int64]
_Flags = npt.NDArray[np.bool_]
_STREAM = 1  # beside those that shuffle the epochs


class QualifierDropout:
    """Drops qualifiers of a ``share`` of the instances of each step, and marks these as partial.

    For each of them a probability is drawn uniformly from [0, 1], and each qualifier is kept with it; that of the
    masked element always stays. What is dropped follows from seed and step alone.
    """

    def __init__(self, table: FactTable, share: float, seed: int) -> None:
        self.table = table
        self.share = share
        self.seed = seed
        self._num_qualifiers = np.array([block.qualifiers for block in table.blocks])

    def __call__(self, step: int, block: Array, row: Array, column: Array) -> tuple[Array, Batch]:
        """The facts of instances [B], given by block, row and masked column, with what is left of their qualifiers.

        Also returns the order of the instances in the batch [B], whose groups are ordered by arity.
        """
        primary, attributes, values = self._padded(block, row)
        count = self._num_qualifiers[block]
        in_attributes = column < FIRST_ATTRIBUTE + count
        masked = np.where(column < FIRST_ATTRIBUTE, -1, column - FIRST_ATTRIBUTE - np.where(in_attributes, 0, count))
        numbers = np.arange(attributes.shape[1])
        kept, partial = self._draw(step, *attributes.shape)
        kept = (kept | (numbers == masked[:, None])) & (numbers < count[:, None])
        count = kept.sum(1)
        place = (kept & (numbers < masked[:, None])).sum(1)  # of the masked qualifier among those kept
        shifted = FIRST_ATTRIBUTE + np.where(in_attributes, place, place + count)
        column = np.where(masked < 0, column, shifted)
        kept_first = np.argsort(~kept, axis=1, kind="stable")
        attributes, values = (np.take_along_axis(part, kept_first, 1) for part in (attributes, values))
        order = np.argsort(count, kind="stable")
        groups = []
        for rows in np.split(order, np.flatnonzero(np.diff(count[order])) + 1):
            size = count[rows[0]]
            ids = np.concatenate([primary[rows], attributes[rows, :size], values[rows, :size]], axis=1)
            group_ids, columns, flags = (torch.from_numpy(part) for part in (ids, column[rows], partial[rows]))
            groups.append(Group(group_ids, columns, partial=flags))
        return order, Batch(groups)

    def _padded(self, block: Array, row: Array) -> tuple[Array, Array, Array]:
        """The primary triples [B, 3], attributes and values [B, M] of facts of mixed arity, padded with zeros."""
        width = int(self._num_qualifiers[block].max())
        primary, attributes, values = (np.zeros((len(block), size), np.int64) for size in (3, width, width))
        for number in np.unique(block):
            rows, facts = np.flatnonzero(block == number), self.table.blocks[number]
            ids, size = facts.ids[row[rows]], facts.qualifiers
            primary[rows] = ids[:, :FIRST_ATTRIBUTE]
            attributes[rows, :size] = ids[:, FIRST_ATTRIBUTE : FIRST_ATTRIBUTE + size]
            values[rows, :size] = ids[:, FIRST_ATTRIBUTE + size :]
        return primary, attributes, values

    def _draw(self, step: int, instances: int, qualifiers: int) -> tuple[_Flags, _Flags]:
        """Which qualifiers are kept [B, M], and which instances are partial [B]."""
        generator = np.random.PCG64([self.seed, step, _STREAM])
        # Raw words do not change with numpy's version; their upper 53 bits are a float in [0, 1).
        words = generator.random_raw(instances * (2 + qualifiers)).reshape(instances, -1)
        numbers = (words >> np.uint64(11)) * 2.0**-53
        partial = numbers[:, 0] < self.share
        return ~partial[:, None] | (numbers[:, 2:] < numbers[:, 1:2]), partial
