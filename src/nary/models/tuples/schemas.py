"""Schemas: what the relation of a tuple is.

A tuple has one relation and an entity in each slot. The relation of a fact says what its slots mean only together with
its attributes, so both together, its schema, are the relation of its tuple. Where all facts of a relation have the same
attributes, a schema is just that relation.
"""

import numpy as np
import torch
from torch import Tensor, nn

from nary.facts import FactTable
from nary.models.codes import codes


class Schemas(nn.Module):
    """The schemas of the facts learned from, numbered.

    ``keys`` [S, max_arity - 1] holds the relation and the attributes of each, and -1 after the last of them; ``codes``
    [S] a number for each of these rows, ascending, by which they are found.
    """

    keys: Tensor
    codes: Tensor

    def __init__(self, max_arity: int) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(0, max_arity - 1, dtype=torch.int64))
        self.register_buffer("codes", torch.zeros(0, dtype=torch.int64))

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def arities(self) -> Tensor:
        """The arity of each [S]."""
        return arities_of(self.keys)

    def count(self, train: FactTable) -> None:
        """Number the schemas of these facts."""
        found = [torch.from_numpy(np.unique(block.relations, axis=0).astype(np.int64)) for block in train.blocks]
        keys = torch.cat([self._padded(own) for own in found])
        self.codes, order = codes(keys).sort()
        self.keys = keys[order]

    def rows(self, table: Tensor, schemas: Tensor) -> Tensor:
        """The rows of ``table`` [S, ...] that belong to ``schemas`` [n, 1+m]; there must be one of their arity.

        An unknown schema gets the mean of those with its relation and arity; if there are none, of those with its
        relation; and zeros if there are none of these either.
        """
        keys = self._padded(schemas)
        numbers = torch.searchsorted(self.codes, codes(keys)).clamp(max=len(self) - 1)
        known = (self.keys[numbers] == keys).all(1)
        flat = table.flatten(1)
        found = nn.functional.embedding(numbers, flat)
        if not known.all():
            alike = self.keys[:, 0] == keys[:, :1]  # [n, S]
            closer = alike & (self.arities == 1 + schemas.shape[1])
            chosen = torch.where(closer.any(1, keepdim=True), closer, alike)
            means = chosen.to(flat.dtype) @ flat / chosen.sum(1, keepdim=True).clamp(min=1)
            found = torch.where(known[:, None], found, means)
        return found.view(len(schemas), *table.shape[1:])

    def _padded(self, schemas: Tensor) -> Tensor:
        return nn.functional.pad(schemas, (0, self.keys.shape[1] - schemas.shape[1]), value=-1)


def arities_of(keys: Tensor) -> Tensor:
    """The arity of each row of ids that ends with -1s."""
    return 1 + (keys >= 0).sum(1)
