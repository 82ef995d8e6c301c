"""RAE: m-TransH, and a network that tells which entities can stand in one fact."""

from collections.abc import Iterator
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.models.batch import Batch
from nary.models.contract import Sizes
from nary.models.tuples.m_transh import MTransH, TransHSettings
from nary.models.tuples.tuples import Tuples


class RAESettings(TransHSettings):
    """``[model]`` of a recipe for RAE."""

    name: Literal["rae"] = "rae"
    hidden: int = Field(400, ge=1)
    """The width of the network between its two layers."""


class RAE(MTransH):
    """m-TransH; the network shapes the vectors of entities and takes no part in scores."""

    name = "rae"

    def __init__(self, settings: RAESettings, sizes: Sizes) -> None:
        super().__init__(settings, sizes)
        first, last = nn.Linear(2 * settings.width, settings.hidden), nn.Linear(settings.hidden, 2)
        for layer in (first, last):
            nn.init.trunc_normal_(layer.weight)
            nn.init.constant_(layer.bias, 0.1)
        self.network = nn.Sequential(first, nn.ReLU(), last)

    def network_parameters(self) -> Iterator[nn.Parameter]:
        """The parameters of the network alone."""
        return self.network.parameters()

    def extra_loss(self, batch: Batch) -> Tensor:
        """The loss of the network, and what m-TransH adds."""
        penalties, loss = super().extra_loss(batch), self.relatedness_loss(batch)
        return loss if penalties is None else loss + penalties

    def relatedness_loss(self, batch: Batch) -> Tensor:
        """How badly the network tells pairs of known entities of one fact from pairs with one replaced at random."""
        pairs = torch.cat([_pairs(Tuples.of(group)) for group in batch.groups])
        if not len(pairs):
            return self.entity.new_zeros(())
        side = torch.randint(2, (len(pairs), 1), device=pairs.device)
        wrong = pairs.scatter(1, side, torch.randint(self.sizes.entities, side.shape, device=pairs.device))
        vectors = nn.functional.embedding(torch.cat([pairs, wrong]), self.entity).flatten(1)
        true = torch.arange(2, device=pairs.device).flip(0).repeat_interleave(len(pairs))
        return nn.functional.cross_entropy(self.network(vectors), true)


def _pairs(tuples: Tuples) -> Tensor:
    """All pairs of known entities of each fact [p, 2]."""
    known = tuples.known
    places = torch.combinations(torch.arange(known.shape[1], device=known.device), 2)
    return known[:, places].flatten(0, 1)
