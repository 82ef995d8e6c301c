"""Tensor models, n-TuckER and GETD: a core for each arity, multiplied with the vectors of a tuple."""

from collections.abc import Sequence
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.config import Settings
from nary.models.base import DatasetInfo
from nary.models.layers import Dropout
from nary.models.tuples.base import TupleModel
from nary.models.tuples.schemas import Tuples


class NTuckERSettings(Settings):
    """``[model]`` of a recipe for n-TuckER."""

    name: Literal["n-tucker"] = "n-tucker"
    embedding_dim: int = Field(50, ge=1)
    input_dropout: float = Field(0.2, ge=0, lt=1)
    """Of the known entities."""
    hidden_dropout: float = Field(0.5, ge=0, lt=1)
    """Of the query vector."""
    max_core_size: float = Field(1e7, ge=1)
    """The most numbers a core may have; a larger one is cut to the first coordinates of all vectors."""


class GETDSettings(Settings):
    """``[model]`` of a recipe for GETD; the defaults are those of JF17K-3."""

    name: Literal["getd"] = "getd"
    embedding_dim: int = Field(50, ge=1)
    rank: int = Field(50, ge=1)
    input_dropout: float = Field(0.127, ge=0, lt=1)
    """Of the known entities."""
    hidden_dropout: float = Field(0.502, ge=0, lt=1)
    """Of the query vector."""


class TensorModel(TupleModel):
    """Query vector = core x relation x known entities; all arities share the vectors.

    As in the authors' code, the vectors that enter the core and those that come out of it are normalized over the
    batch; candidates are not. So the score of a whole fact depends slightly on which element is masked.
    """

    family = "tensor"
    reference = "Liu, Yao, Li, Generalizing Tensor Decomposition for N-ary Relational Knowledge Bases, WWW 2020"
    relation: Tensor

    def __init__(self, settings: NTuckERSettings | GETDSettings, info: DatasetInfo) -> None:
        super().__init__(settings, info)
        self.width = settings.embedding_dim
        self.entity = nn.Parameter(_small_normal(torch.empty(info.num_entities, self.width)))
        self.relation = self.schema_parameter((self.width,), _small_normal)
        self.relation_norm, self.entity_norm, self.query_norm = (_Norm(self.width) for _ in range(3))
        self.input_dropout = Dropout(settings.input_dropout)
        self.hidden_dropout = Dropout(settings.hidden_dropout)

    def contract(self, tuples: Tuples, relations: Tensor, entities: Tensor) -> Tensor:
        """The core of an arity times the relations [n, d] and known entities [n, k-1, d] of tuples: [n, d]."""
        raise NotImplementedError

    def encode_tuples(self, groups: Sequence[Tuples]) -> Tensor:
        """The query vectors of tuples [B, d], normalized over all groups at once."""
        relations = torch.cat([self.schemas.rows(self.relation, tuples.schemas) for tuples in groups])
        relations = self.relation_norm(relations)
        entities = nn.functional.embedding(torch.cat([tuples.known.flatten() for tuples in groups]), self.entity)
        entities = self.input_dropout(self.entity_norm(entities))
        parts = zip(
            groups,
            relations.split([len(tuples) for tuples in groups]),
            entities.split([tuples.known.numel() for tuples in groups]),
            strict=True,
        )
        contracted = [self.contract(tuples, r, e.view(len(tuples), -1, self.width)) for tuples, r, e in parts]
        queries: Tensor = self.hidden_dropout(self.query_norm(torch.cat(contracted)))
        return queries


class NTuckER(TensorModel):
    """n-TuckER, with a full core for each arity."""

    name = "n-tucker"
    settings_class = NTuckERSettings
    description = "a core tensor for each arity, multiplied with the embeddings"

    def __init__(self, settings: NTuckERSettings, info: DatasetInfo) -> None:
        super().__init__(settings, info)
        self.max_core_size = settings.max_core_size
        for arity in range(2, info.max_arity + 1):
            self.add_arity_parameter(f"core_{arity}", arity, (self.side(arity),) * (arity + 1), _uniform)

    def side(self, arity: int) -> int:
        """How many coordinates of each vector the core of an arity reads."""
        return max(side for side in range(1, self.width + 1) if side == 1 or side ** (arity + 1) <= self.max_core_size)

    def encode_tuples(self, groups: Sequence[Tuples]) -> Tensor:
        """The query vectors of tuples [B, d], zero at coordinates that a core does not read."""
        sides = torch.cat([tuples.slots.new_full((len(tuples), 1), self.side(tuples.arity)) for tuples in groups])
        return super().encode_tuples(groups) * (torch.arange(self.width, device=sides.device) < sides)

    def contract(self, tuples: Tuples, relations: Tensor, entities: Tensor) -> Tensor:
        """The core times the relations [n, d] and known entities [n, k-1, d] of tuples: [n, d]."""
        core: Tensor = getattr(self, f"core_{tuples.arity}")
        side = core.shape[0]
        # Relations first: a batch has few of them, and each turns the core into a small tensor that its facts share.
        schemas, schema = torch.unique(tuples.schemas, dim=0, return_inverse=True)
        first = schema.new_zeros(len(schemas)).scatter_(0, schema, torch.arange(len(schema), device=schema.device))
        tensors = (relations[first, :side] @ core.flatten(1)).unbind(0)
        known = entities[..., :side]
        parts = schema * tuples.arity + tuples.slots
        order = parts.argsort()
        vectors, sizes = [], torch.bincount(parts).tolist()
        for part, rows in enumerate(order.split(sizes)):
            if sizes[part]:
                number, slot = divmod(part, tuples.arity)
                vectors.append(_contract_slots(tensors[number], known[rows, :slot], known[rows, slot:], side))
        return nn.functional.pad(torch.cat(vectors)[order.argsort()], (0, self.width - side))


class GETD(TensorModel):
    """GETD: core[j_0, j_1, ...] = trace(Z_0[:, j_0] Z_1[:, j_1] ...), a ring of factors; mode 0 is the relation.

    The core is never built: a factor times its vector is a matrix, and the ring without the masked slot is the product
    of these.
    """

    name = "getd"
    settings_class = GETDSettings
    description = "n-TuckER with a tensor ring as core"

    def __init__(self, settings: GETDSettings, info: DatasetInfo) -> None:
        super().__init__(settings, info)
        rank = settings.rank
        for arity in range(2, info.max_arity + 1):
            shape = (arity + 1, rank, settings.embedding_dim, rank)
            self.add_arity_parameter(f"ring_{arity}", arity, shape, _uniform)

    def contract(self, tuples: Tuples, relations: Tensor, entities: Tensor) -> Tensor:
        """The core times the relations [n, d] and known entities [n, k-1, d] of tuples: [n, d]."""
        order, parts = [], []
        for slot in torch.unique(tuples.slots).tolist():
            rows = (tuples.slots == slot).nonzero()[:, 0]
            order.append(rows)
            parts.append(self._around(tuples.arity, slot, [relations[rows], *entities[rows].unbind(1)]))
        return torch.cat(parts)[torch.cat(order).argsort()]

    def _around(self, arity: int, slot: int, vectors: list[Tensor]) -> Tensor:
        ring: Tensor = getattr(self, f"ring_{arity}")
        masked = slot + 1
        # A trace may start at any factor of the ring: here with the one after the masked slot.
        modes = [*range(masked + 1, arity + 1), *range(masked)]
        chain = None
        for mode, vector in zip(modes, vectors[masked:] + vectors[:masked], strict=True):
            matrix = torch.einsum("ni,aib->nab", vector, ring[mode])
            chain = matrix if chain is None else chain @ matrix
        return torch.einsum("akb,nba->nk", ring[masked], chain)


class _Norm(nn.BatchNorm1d):
    """Batch norm that normalizes a single vector, which has no variance, with the running statistics."""

    def forward(self, x: Tensor) -> Tensor:
        if self.training and len(x) == 1:
            return nn.functional.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias)
        return super().forward(x)


def _contract_slots(tensor: Tensor, before: Tensor, after: Tensor, side: int) -> Tensor:
    """A tensor times the vectors [n, m, d] of the slots before and after the masked one: [n, d]."""
    left, right = _outer(before), _outer(after)
    # The larger side first, as a product with a view: what is left is small.
    if left.shape[1] > right.shape[1]:
        rest = (left @ tensor.view(left.shape[1], -1)).view(len(left), side, -1)
        return (rest @ right[:, :, None])[:, :, 0]
    rest = (right @ tensor.view(-1, right.shape[1]).T).view(len(right), -1, side)
    return (left[:, None] @ rest)[:, 0]


def _outer(vectors: Tensor) -> Tensor:
    """The outer product of vectors [n, m, d], flattened: [n, d^m]."""
    product = vectors.new_ones(len(vectors), 1)
    for vector in vectors.unbind(1):
        product = (product[:, :, None] * vector[:, None]).flatten(1)
    return product


def _small_normal(tensor: Tensor, generator: torch.Generator | None = None) -> Tensor:
    return nn.init.normal_(tensor, std=1e-3, generator=generator)


def _uniform(tensor: Tensor, generator: torch.Generator | None = None) -> Tensor:
    return nn.init.uniform_(tensor, -0.1, 0.1, generator=generator)
