"""What every model promises: a query vector for a masked fact and a table of candidates, or scores of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from nary.config import Settings
from nary.facts import FactTable, Role
from nary.models.aligned import empty_aligned
from nary.models.alternation import Alternation
from nary.models.batch import Batch

Kind = Literal["entity", "relation"]
"""The two kinds of candidates: all entities, or all relations."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of a dataset that a model needs; they are counted, never configured."""

    entities: int
    relations: int
    max_arity: int


class Model(nn.Module):
    """A model that scores every candidate for the masked element of a fact.

    A model that scores through a query vector gives :meth:`encode` and :meth:`candidates`. One that must see fact and
    candidate together overrides :meth:`score` instead. Parameters with a row for each entity have names that begin with
    ``entity``: ``training.entity_lr_scale`` is theirs.
    """

    name: ClassVar[str]
    sizes: Sizes
    roles: frozenset[Role] = frozenset(Role)
    """The roles the model can predict."""
    losses: ClassVar[frozenset[str]] = frozenset({"cross_entropy", "softmax_bce"})
    """What the model can be trained with (``loss.name``)."""
    supports_multiple_masks: bool = False
    """Whether the model understands facts in which more than the masked element is missing (``Group.hidden``)."""

    @classmethod
    def roles_of(cls, settings: Settings) -> frozenset[Role]:
        """The roles a model with these settings can predict."""
        return cls.roles

    def prepare(self, train: FactTable) -> None:
        """Look at the facts to learn from, once, before training."""

    def encode(self, batch: Batch) -> Tensor:
        """A vector for each masked fact [B, d]."""
        raise NotImplementedError(f"{self.name} scores without query vectors")

    def candidates(self, kind: Kind) -> tuple[Tensor, Tensor]:
        """A vector [C, d] and a bias [C] for each candidate."""
        raise NotImplementedError(f"{self.name} scores without a table of candidates")

    def fact_scores(self, ids: Tensor) -> Tensor:
        """The scores [n] of whole facts of one arity [n, 2m+3]; only for training with negatives."""
        raise NotImplementedError(f"{self.name} does not score whole facts")

    def group_scores(self, groups: Sequence[Tensor]) -> list[Tensor]:
        """The scores of whole facts, group by group; for a model whose norms should see all of a batch at once."""
        return [self.fact_scores(ids) for ids in groups]

    def extra_loss(self, batch: Batch) -> Tensor | None:
        """What the model learns besides the answers, if anything."""
        return None

    def alternation(self) -> Alternation | None:
        """What training does in turns with its objective, if anything; asked once, before it starts."""
        return None

    def post_step(self) -> None:
        """Put the parameters back to where they are allowed to be, after a step."""

    def attention(self, batch: Batch) -> Tensor | None:
        """How much each vertex looks at each other in facts of one arity [n, L, T, T]; None without attention."""
        return None

    def score(self, batch: Batch, kind: Kind) -> Tensor:
        """Scores [B, C] of all candidates; every fact of the batch asks for this ``kind``."""
        queries, (table, bias) = self.encode(batch), self.candidates(kind)
        # Nothing may be written into what gradients are taken of.
        room = None if torch.is_grad_enabled() else empty_aligned(queries, len(table))
        return torch.addmm(bias, queries, table.T, out=room)
