"""RAE: m-TransH with a network that predicts which entities occur in a fact together."""

from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.models.alternation import Alternation, Phase
from nary.models.base import DatasetInfo
from nary.models.batch import Batch
from nary.models.tuples.m_transh import MTransH, TransHSettings
from nary.models.tuples.schemas import Tuples


class RAESettings(TransHSettings):
    """``[model]`` of a recipe for RAE."""

    name: Literal["rae"] = "rae"
    hidden_dim: int = Field(400, ge=1)
    """The size of the hidden layer of the network."""
    learning: Literal["joint", "alternating"] = "joint"
    """One joint loss, as in the paper; or alternating, as in the authors' code: rounds of epochs for the distance, for
    the network with frozen entities, and for the entities with a frozen network."""
    relatedness: float = Field(1.0, ge=0)
    """The weight of the network in the joint loss."""
    round_epochs: list[Annotated[int, Field(ge=1)]] = Field([100, 10, 5], min_length=3, max_length=3)
    """The epochs of a round for the distance, the network and the entities."""
    round_learning_rates: list[Annotated[float, Field(gt=0)]] = Field([5e-3, 1e-3], min_length=2, max_length=2)
    """The learning rates of the network and of the entities in a round; the distance has that of ``[training]``."""


class RAE(MTransH):
    """m-TransH; the network shapes the vectors of entities and plays no part in scores."""

    name = "rae"
    settings_class = RAESettings
    description = "m-TransH, and a network for which entities occur together"
    reference = (
        "Zhang et al., Scalable Instance Reconstruction in Knowledge Bases via Relatedness Affiliated Embedding, "
        "WWW 2018"
    )
    settings: RAESettings

    def __init__(self, settings: RAESettings, info: DatasetInfo) -> None:
        super().__init__(settings, info)
        first, last = nn.Linear(2 * settings.embedding_dim, settings.hidden_dim), nn.Linear(settings.hidden_dim, 2)
        for layer in (first, last):
            nn.init.trunc_normal_(layer.weight)
            nn.init.constant_(layer.bias, 0.1)
        self.network = nn.Sequential(first, nn.ReLU(), last)

    def extra_loss(self, batch: Batch) -> Tensor | None:
        """The penalties of m-TransH, and the loss of the network if it is learned jointly."""
        penalties = super().extra_loss(batch)
        if self.settings.learning == "alternating":
            return penalties
        related = self.settings.relatedness * self.relatedness_loss(batch)
        return related if penalties is None else related + penalties

    def alternation(self) -> Alternation | None:
        """The rounds of the authors' code."""
        if self.settings.learning == "joint":
            return None
        distance, *epochs = self.settings.round_epochs
        rates = self.settings.round_learning_rates
        network = Phase(epochs[0], self.relatedness_loss, list(self.network.parameters()), rates[0])
        entities = Phase(epochs[1], self.relatedness_loss, [self.entity], rates[1])
        return Alternation(distance, (network, entities))

    def relatedness_loss(self, batch: Batch) -> Tensor:
        """The loss of telling pairs of entities of one fact from pairs with one entity replaced at random."""
        pairs = torch.cat([_pairs(Tuples.of(group)) for group in batch.groups])
        side = torch.randint(2, (len(pairs), 1), device=pairs.device)
        wrong = pairs.scatter(1, side, torch.randint(self.info.num_entities, side.shape, device=pairs.device))
        vectors = nn.functional.embedding(torch.cat([pairs, wrong]), self.entity).flatten(1)
        true = torch.arange(2, device=pairs.device).flip(0).repeat_interleave(len(pairs))
        return nn.functional.cross_entropy(self.network(vectors), true, reduction="sum") / max(1, len(true))


def _pairs(tuples: Tuples) -> Tensor:
    """The masked entity of each fact with every later one [p, 2]: so an epoch has each pair of a fact once."""
    later = torch.arange(tuples.arity, device=tuples.slots.device) > tuples.slots[:, None]  # [n, k]
    masked = tuples.entities[tuples.masked][:, None].expand(later.shape)
    return torch.stack([masked[later], tuples.entities[later]], 1)
