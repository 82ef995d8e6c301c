"""m-TransH: entities projected to the hyperplane of their relation, with a weighted sum close to zero."""

from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.config import Settings
from nary.models.base import DatasetInfo, Kind
from nary.models.batch import Batch
from nary.models.layers import Dropout
from nary.models.tuples.base import TupleModel
from nary.models.tuples.schemas import Tuples

_CHUNK = 8  # rows of scores that stay in the cache between passes over them


class TransHSettings(Settings):
    """The settings that m-TransH and RAE share."""

    embedding_dim: int = Field(100, ge=1)
    variant: Literal["published", "hype"] = "published"
    """As published: the squared distance, with normals, biases and weights of unit length. Or as in the code of HypE:
    the distance itself, without these constraints."""
    dropout: float = Field(0.0, ge=0, lt=1)
    """Of the sum whose length is the distance, in the scores of whole facts."""


class MTransHSettings(TransHSettings):
    """``[model]`` of a recipe for m-TransH."""

    name: Literal["m-transh"] = "m-transh"


class MTransH(TupleModel):
    """Scores a tuple with minus (the square of) the length of b + the sum over its slots of a_i P(e_i).

    P(e) = e - (w · e) w is the projection of e to the hyperplane with normal w.
    """

    name = "m-transh"
    settings_class: ClassVar[type[Settings]] = MTransHSettings
    family = "translation"
    description = "projections onto the hyperplane of the relation, and a distance"
    reference = "Wen et al., On the Representation and Embedding of Knowledge Bases beyond Binary Relations, IJCAI 2016"
    losses = frozenset({"sampled_cross_entropy", "margin"})

    def __init__(self, settings: TransHSettings, info: DatasetInfo) -> None:
        super().__init__(settings, info)
        self.variant = settings.variant
        self.entity = nn.Parameter(self._init_unit(torch.empty(info.num_entities, settings.embedding_dim)))
        self.normal = self.schema_parameter((settings.embedding_dim,), self._init_unit)
        self.bias = self.schema_parameter((settings.embedding_dim,), self._init_unit)
        self.weight = self.schema_parameter((info.max_arity,), self._init_weight)
        self.dropout = Dropout(settings.dropout)

    def entity_vectors(self) -> Tensor:
        """There are none: a distance is no inner product."""
        raise NotImplementedError(f"{self.name} scores without a table of candidates")

    def score(self, batch: Batch, kind: Kind) -> Tensor:
        """Scores [B, E] of all entities."""
        scores = [self._score(Tuples.of(group)) for group in batch.groups]
        return scores[0] if len(scores) == 1 else torch.cat(scores)

    def score_tuples(self, tuples: Tuples) -> Tensor:
        """The scores of whole tuples [n]."""
        normals, biases, weights = self._rows(tuples.schemas)
        return -self._distance(self.dropout(self._sum(tuples, normals, biases, weights)).square().sum(1))

    def post_step(self) -> None:
        """Normalize normals, biases and weights to unit length."""
        if self.variant == "published":
            with torch.no_grad():
                for parameter in (self.normal, self.bias, self.weight):
                    parameter.copy_(nn.functional.normalize(parameter))

    def extra_loss(self, batch: Batch) -> Tensor | None:
        """The mean over facts of the penalties of their schemas."""
        if self.variant != "published":
            return None
        return torch.cat([self._penalties(Tuples.of(group).schemas) for group in batch.groups]).mean()

    def _penalties(self, schemas: Tensor) -> Tensor:
        """Penalties [n] for a bias outside of the hyperplane, and for the sum of the weights.

        The published code keeps that sum as an integer, so it sees no sum below 1.
        """
        normals, biases, weights = self._rows(schemas)
        outside = ((normals * biases).sum(1).square() - 0.01).clamp(min=0)
        sums = weights.sum(1)
        return 1e-3 * outside + torch.where(sums.abs() >= 1, sums.square(), 0)

    def _score(self, tuples: Tuples) -> Tensor:
        """Scores [n, E] of all entities, from the expanded square of the distance.

        With c the sum without the masked slot, it is |c + a P(e)|^2 = 2 a P(c) · e + a^2 |P(e)|^2 + |c|^2: one matrix
        product for the tuples and one for their distinct schemas. The other terms are added chunk by chunk.
        """
        if tuples.arity not in self.arities:
            return self.entity.new_zeros(len(tuples), len(self.entity))
        distinct, which = torch.unique(tuples.schemas, dim=0, return_inverse=True)
        normals, biases, weights = self._rows(distinct)
        shorter = normals.square().sum(1, keepdim=True) - 2
        lengths = (normals @ self.entity.T).square_().mul_(shorter)  # |P(e)|^2 - |e|^2 [S', E]
        lengths += torch.linalg.vector_norm(self.entity, dim=1).square()
        slot_weights, masked = weights[which], tuples.masked
        rest = self._sum(tuples, normals[which], biases[which], slot_weights.masked_fill(masked, 0))
        weight, known = slot_weights[masked][:, None], rest.square().sum(1, keepdim=True)
        scores = 2 * weight * _projected(rest, normals[which]) @ self.entity.T
        for start in range(0, len(scores), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            squares = scores[chunk].addcmul_(weight[chunk].square(), lengths[which[chunk]]).add_(known[chunk])
            self._distance(squares).neg_()
        return scores

    def _sum(self, tuples: Tuples, normals: Tensor, biases: Tensor, weights: Tensor) -> Tensor:
        """The vectors whose length is the distance [n, d]."""
        entities = nn.functional.embedding(tuples.entities, self.entity)
        return biases + _projected((weights[..., None] * entities).sum(1), normals)

    def _distance(self, squares: Tensor) -> Tensor:
        """From its square, in place; rounding may bring a square below 0."""
        return squares if self.variant == "published" else squares.clamp_(min=1e-12).sqrt_()

    def _rows(self, schemas: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Normals [n, d], biases [n, d] and the weights of the slots [n, k] of schemas [n, k-1]."""
        tables = (self.normal, self.bias, self.weight)
        normals, biases, weights = (self.schemas.rows(table, schemas) for table in tables)
        return normals, biases, weights[:, : 1 + schemas.shape[1]]

    def _init(self, tensor: Tensor, generator: torch.Generator | None = None) -> Tensor:
        init = nn.init.uniform_ if self.variant == "published" else nn.init.xavier_normal_
        return init(tensor, generator=generator)

    def _init_weight(self, tensor: Tensor, generator: torch.Generator) -> Tensor:
        """The slots that a schema lacks are zero and stay zero, so that they do not count in the length of the rest."""
        slots = torch.arange(tensor.shape[1], device=tensor.device)
        return self._init(tensor, generator).mul_(slots < self.schemas.arities[:, None].to(tensor.device))

    def _init_unit(self, tensor: Tensor, generator: torch.Generator | None = None) -> Tensor:
        return tensor.copy_(nn.functional.normalize(self._init(tensor, generator)))


def _projected(vectors: Tensor, normals: Tensor) -> Tensor:
    """P of vectors [n, d]."""
    return vectors - (vectors * normals).sum(1, keepdim=True) * normals
