"""The message graph: the facts that are learned from, in a form in which messages are cheap to sum.

Letters: E entities, R relations, C compositions, P pairs of an attribute and a value, d width.
A *composition* is what an edge says: a relation with its qualifiers. Edges with the same composition share its vector.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from nary.facts import FactTable
from nary.facts.layout import OBJECT, RELATION, SUBJECT
from nary.facts.table import number_rows
from nary.models.contract import Sizes
from nary.models.stare.direction import Direction
from nary.models.stare.products import product, rotated
from nary.models.stare.settings import StareSettings
from nary.models.stare.sparse import SparseMatrix


class MessageGraph(nn.Module):
    """The facts as edges. They are saved with the weights; what follows from them is made again.

    ``edges`` [n, 3] holds the composition, the subject and the object of each fact, ``relations`` [C] the relation of
    each composition, and ``qualifiers`` [k, 3] the composition, the attribute and the value of each qualifier.
    """

    edges: Tensor
    relations: Tensor
    qualifiers: Tensor

    def __init__(self, settings: StareSettings, sizes: Sizes) -> None:
        super().__init__()
        self.settings = settings
        self.sizes = sizes
        self.register_buffer("edges", torch.zeros(0, 3, dtype=torch.int64))
        self.register_buffer("relations", torch.zeros(0, dtype=torch.int64))
        self.register_buffer("qualifiers", torch.zeros(0, 3, dtype=torch.int64))

    def hold(self, train: FactTable) -> None:
        """Take these facts as edges."""
        edges, relations, qualifiers, count = [], [], [], 0
        for block in train.blocks:
            said = np.delete(block.ids, [SUBJECT, OBJECT], axis=1)  # relation, attributes, values
            _, first, numbers = np.unique(number_rows([said])[0], return_index=True, return_inverse=True)
            edges.append(np.column_stack([count + numbers, block.ids[:, SUBJECT], block.ids[:, OBJECT]]))
            relations.append(block.ids[first, RELATION])
            own = np.repeat(count + np.arange(len(first)), block.qualifiers)
            qualifiers.append(np.column_stack([own, block.attributes[first].ravel(), block.values[first].ravel()]))
            count += len(first)
        self._take(
            *(torch.from_numpy(np.concatenate(part).astype(np.int64)) for part in (edges, relations, qualifiers))
        )

    def messages(self, x: Tensor, relations: Tensor, qualifier_weight: Tensor) -> list[tuple[Tensor, Tensor]]:
        """For each direction who receives messages [k], and the sum of what each receives [k, d].

        ``x`` [E, d] are the entities, ``relations`` [2R, d] the relations and then their inverses. What a qualifier
        says goes through ``qualifier_weight`` [d, d].
        """
        pairs = rotated(self.pair_values(x), self.pair_attributes(relations))  # [P, d]
        said = self.pairs_of(product(pairs, qualifier_weight))  # [C, d]; the sum may come after the product
        share = self.settings.relation_weight
        return [
            (own.receivers, own(x, torch.lerp(said, relation_of(relations), share)))
            for own, relation_of in ((self.to_subjects, self.relation_of), (self.to_objects, self.inverse_of))
        ]

    def _take(self, edges: Tensor, relations: Tensor, qualifiers: Tensor) -> None:
        """Make what follows from these edges."""
        device = self.edges.device
        compositions = len(relations)
        entities = self.sizes.entities + self.settings.padding
        both = 2 * self.sizes.relations + self.settings.padding  # directions of all relations
        pairs, pair_of = torch.unique(qualifiers[:, 1:], dim=0, return_inverse=True)
        numbers = torch.arange(len(pairs))
        self.pair_attributes = SparseMatrix(numbers, pairs[:, 0], (len(pairs), both))
        self.pair_values = SparseMatrix(numbers, pairs[:, 1], (len(pairs), entities))
        self.pairs_of = SparseMatrix(qualifiers[:, 0], pair_of, (compositions, len(pairs)))
        every = torch.arange(compositions)
        self.relation_of = SparseMatrix(every, relations, (compositions, both))
        self.inverse_of = SparseMatrix(every, self.sizes.relations + relations, (compositions, both))
        said, subjects, objects = edges.T
        limits, degrees = (entities, compositions), self.settings.degree_norm
        self.to_subjects = Direction(subjects, objects, said, limits, degrees)
        self.to_objects = Direction(objects, subjects, said, limits, degrees)
        self.edges, self.relations, self.qualifiers = edges, relations, qualifiers
        self.to(device)

    def _load_from_state_dict(self, state_dict: Mapping[str, Any], prefix: str, *others: Any) -> None:
        names = [prefix + name for name in ("edges", "relations", "qualifiers")]
        if all(name in state_dict for name in names):
            found = [state_dict[name].to("cpu", torch.int64) for name in names]
            self._check(*found)
            self._take(*found)
        super()._load_from_state_dict(state_dict, prefix, *others)

    def _check(self, edges: Tensor, relations: Tensor, qualifiers: Tensor) -> None:
        """Refuse what is no graph of this size."""
        entities, compositions = self.sizes.entities, len(relations)
        fits = edges.dim() == qualifiers.dim() == 2 and edges.shape[1] == qualifiers.shape[1] == 3
        limits = (
            ((compositions, entities, entities), edges),
            ((self.sizes.relations,), relations.view(-1, 1)),
            ((compositions, self.sizes.relations, entities), qualifiers),
        )
        if not fits or any(((ids < 0) | (ids >= torch.tensor(limit))).any() for limit, ids in limits):
            raise RuntimeError("the edges of the message graph do not fit together")
