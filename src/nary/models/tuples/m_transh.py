"""m-TransH: entities on the hyperplane of their relation, whose weighted sum should come to nothing."""

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.config import Settings
from nary.models.batch import Batch
from nary.models.contract import Kind, Sizes
from nary.models.dropout import Dropout
from nary.models.tuples.base import TupleModel
from nary.models.tuples.tuples import Tuples

_AT_A_TIME = 8  # rows of scores that a processor's cache holds from one pass over them to the next


class TransHSettings(Settings):
    """What m-TransH and RAE have in common."""

    embedding_dim: int = Field(100, ge=1)
    variant: Literal["published", "hype"] = "published"
    """As published: the square of the distance, with normals, biases and weights of unit length. Or as the authors of
    HypE have it: the distance itself, all of them free."""
    dropout: float = Field(0.0, ge=0, lt=1)
    """Of the sum whose length is the distance, in the scores of whole facts."""


class MTransHSettings(TransHSettings):
    """``[model]`` of a recipe for m-TransH."""

    name: Literal["m-transh"] = "m-transh"


class MTransH(TupleModel):
    """Scores a tuple with minus (the square of) the length of b + the sum over its slots of a_i P(e_i).

    P(e) = e - (w · e) w is what of e lies in the hyperplane with the normal w.
    """

    name = "m-transh"
    losses = frozenset({"sampled_cross_entropy", "margin"})
    normal: Tensor
    bias: Tensor
    weight: Tensor

    def __init__(self, settings: TransHSettings, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.variant = settings.variant
        self.entity = nn.Parameter(self._unit_start(torch.empty(sizes.entities, settings.embedding_dim)))
        self.by_schema("normal", (settings.embedding_dim,), self._unit_start)
        self.by_schema("bias", (settings.embedding_dim,), self._unit_start)
        self.by_schema("weight", (sizes.max_arity,), self._weight_start)
        self.dropout = Dropout(settings.dropout)

    def entity_vectors(self) -> Tensor:
        """None: a distance is no inner product."""
        raise NotImplementedError(f"{self.name} scores without a table of candidates")

    def score(self, batch: Batch, kind: Kind) -> Tensor:
        """Scores [B, E] of all entities."""
        scores = [self._score(Tuples.of(group)) for group in batch.groups]
        return scores[0] if len(scores) == 1 else torch.cat(scores)

    def score_tuples(self, tuples: Tuples) -> Tensor:
        """The scores of whole tuples [n]."""
        normals, biases, weights = self._of(tuples.schemas)
        return -self._distance(self.dropout(self._sum(tuples, normals, biases, weights)).square().sum(1))

    def post_step(self) -> None:
        """Bring normals, biases and weights back to unit length."""
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
        """For a bias that leaves the hyperplane, and for the sum of the weights [n].

        The published code keeps that sum as an integer, so it sees no sum below 1.
        """
        normals, biases, weights = self._of(schemas)
        outside = ((normals * biases).sum(1).square() - 0.01).clamp(min=0)
        sums = weights.sum(1)
        return 1e-3 * outside + torch.where(sums.abs() >= 1, sums.square(), 0)

    def _score(self, tuples: Tuples) -> Tensor:
        """Multiplied out, the distance needs one product for the tuples and one for their distinct schemas.

        With c the sum without the masked slot, it is |c + a P(e)|^2 = 2 a P(c) · e + a^2 |P(e)|^2 + |c|^2. The first
        product makes scores for all tuples at once; what else is done to them, a few at a time.
        """
        if tuples.arity not in self.arities:
            return self.entity.new_zeros(len(tuples), len(self.entity))
        distinct, which = torch.unique(tuples.schemas, dim=0, return_inverse=True)
        normals, biases, weights = self._of(distinct)
        shorter = normals.square().sum(1, keepdim=True) - 2
        lengths = (normals @ self.entity.T).square_().mul_(shorter)  # |P(e)|^2 - |e|^2 [S', E]
        lengths += torch.linalg.vector_norm(self.entity, dim=1).square()
        own, masked = weights[which], tuples.masked
        rest = self._sum(tuples, normals[which], biases[which], own.masked_fill(masked, 0))
        at, known = own[masked][:, None], rest.square().sum(1, keepdim=True)
        scores = 2 * at * _projected(rest, normals[which]) @ self.entity.T
        for start in range(0, len(scores), _AT_A_TIME):
            some = slice(start, start + _AT_A_TIME)
            squares = scores[some].addcmul_(at[some].square(), lengths[which[some]]).add_(known[some])
            self._distance(squares).neg_()
        return scores

    def _sum(self, tuples: Tuples, normals: Tensor, biases: Tensor, weights: Tensor) -> Tensor:
        """The vectors whose length is the distance [n, d]."""
        entities = nn.functional.embedding(tuples.entities, self.entity)
        return biases + _projected((weights[..., None] * entities).sum(1), normals)

    def _distance(self, squares: Tensor) -> Tensor:
        """From squares, which rounding may bring below 0; in their place, as there may be many."""
        return squares if self.variant == "published" else squares.clamp_(min=1e-12).sqrt_()

    def _of(self, schemas: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Normals [n, d], biases [n, d] and the weights of the slots [n, k] of schemas [n, k-1]."""
        normals, biases, weights = (self.schemas.rows(own, schemas) for own in (self.normal, self.bias, self.weight))
        return normals, biases, weights[:, : 1 + schemas.shape[1]]

    def _start(self, tensor: Tensor) -> Tensor:
        return nn.init.uniform_(tensor) if self.variant == "published" else nn.init.xavier_normal_(tensor)

    def _weight_start(self, tensor: Tensor) -> Tensor:
        """Slots that a schema does not have stay zero for ever, so that they take no part in the length of the rest."""
        slots = torch.arange(tensor.shape[1], device=tensor.device)
        return self._start(tensor).mul_(slots < self.schemas.arities[:, None])

    def _unit_start(self, tensor: Tensor) -> Tensor:
        return tensor.copy_(nn.functional.normalize(self._start(tensor)))


def _projected(vectors: Tensor, normals: Tensor) -> Tensor:
    """P of vectors [n, d]."""
    return vectors - (vectors * normals).sum(1, keepdim=True) * normals
