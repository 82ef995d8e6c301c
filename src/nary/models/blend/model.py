"""A blend: a log-linear mix of models over the same vocabulary.

Shapes: B masked facts in a batch, C candidates, P parts, R relations.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Self, cast

import polars as pl
import torch
from torch import Tensor, nn

from nary.facts import Role, Vocabulary, layout
from nary.models.base import DatasetInfo, Kind, Model
from nary.models.batch import Batch, Group
from nary.models.blend.settings import BlendSettings
from nary.models.registry import MODELS

ROLES = tuple(Role)
"""Roles by their number."""


def weight_row(role: Role, partial: bool = False) -> int:
    """The row of the table of weights for a masked role, in whole facts or in partial ones."""
    return ROLES.index(role) + len(ROLES) * partial


class Blend(Model):
    """Adds up the log-probabilities of its parts: score = sum of weight x score of the part / its temperature.

    There are weights for each role of the masked element, in whole facts and in partial ones, and each relation: that
    of the fact, or the attribute of a masked value. The last of these are for where the relation is not known.
    """

    name = "blend"
    settings_class = BlendSettings
    family = "blend"
    description = "a weighted mix of the log-probabilities of other models"
    reference = "Nary"
    losses = frozenset({"cross_entropy"})  # the default of recipes; parts are trained with their own
    supports_qualifier_dropout = False  # that is for its parts
    settings: BlendSettings
    can: Tensor
    can_if_hidden: Tensor

    def __init__(self, settings: BlendSettings, info: DatasetInfo, parts: Sequence[Model] | None = None) -> None:
        """``parts`` are trained models to blend instead of new ones."""
        super().__init__(settings, info)
        made = [MODELS.get(part.name)(part.model, info) for part in settings.parts] if parts is None else parts
        self.parts = nn.ModuleList(made)
        self.roles = frozenset().union(*(part.roles for part in made))
        self.supports_multiple_masks = any(part.supports_multiple_masks for part in made)
        can = torch.tensor([[float(role in part.roles) for part in made] for role in ROLES * 2])
        several = torch.tensor([float(part.supports_multiple_masks) for part in made])
        self.register_buffer("can", can, persistent=False)  # [2 roles, P]: which part predicts what
        self.register_buffer("can_if_hidden", can * several, persistent=False)  # ... and if elements are hidden
        share = can / can.sum(1, keepdim=True).clamp(min=1)
        self.weight = nn.Parameter(share[:, None].repeat(1, info.num_relations + 1, 1))
        """[2 roles, R + 1, P]; see :func:`weight_row`."""
        self.temperature = nn.Parameter(torch.ones(len(can), len(made)))
        """[2 roles, P]"""

    @torch.no_grad()
    def take_weights(self, smaller: "Blend") -> Self:
        """Take the weights of a blend for fewer relations, but not those of its parts; a new one counts as unknown."""
        known = smaller.info.num_relations
        self.weight.copy_(smaller.weight[:, -1:])
        self.weight[:, :known] = smaller.weight[:, :known]
        self.temperature.copy_(smaller.temperature)
        return self

    @classmethod
    def roles_of(cls, settings: BlendSettings) -> frozenset[Role]:  # type: ignore[override]
        """The roles that some part can predict."""
        return frozenset().union(*(MODELS.get(part.name).roles_of(part.model) for part in settings.parts))

    @property
    def models(self) -> list[Model]:
        """The parts."""
        return cast("list[Model]", list(self.parts))

    def score(self, batch: Batch, kind: Kind) -> Tensor:
        """The mixed score of every candidate [B, C]: its log-probability, up to a constant for each query."""
        factors = self.factors(batch)
        scores = factors.new_zeros(len(batch), self.info.num_candidates(kind))
        for number, part in enumerate(self.models):
            factor = factors[:, number]
            chosen = factor != 0
            if chosen.all():
                scores = torch.addcmul(scores, factor[:, None], part.score(batch, kind))
            elif chosen.any():
                rows = chosen.nonzero()[:, 0]
                scores = scores.index_add(0, rows, factor[rows, None] * part.score(_take(batch, chosen), kind))
        return scores

    def encode(self, batch: Batch) -> Tensor:
        """The query vectors of the parts side by side, each times its factor, and the factors [B, sum of d + P].

        A blend has them if all its parts do.
        """
        factors = self.factors(batch)
        vectors = [factors[:, i, None] * part.encode(self._for_part(batch, i)) for i, part in enumerate(self.models)]
        return torch.cat([*vectors, factors], 1)

    def _for_part(self, batch: Batch, number: int) -> Batch:
        """The batch with another query for each one that a part cannot answer; its factor is 0."""
        roles = self.models[number].roles
        groups = []
        for group in batch.groups:
            predicted = [role in roles for role in layout.roles(group.qualifiers)]
            is_predicted = torch.tensor(predicted, device=group.columns.device)[group.columns]
            columns = group.columns.where(is_predicted, predicted.index(True))
            groups.append(replace(group, columns=columns))
        return Batch(groups)

    def candidates(self, kind: Kind) -> tuple[Tensor, Tensor]:
        """The vectors of the candidates in the parts side by side, and their biases as further elements."""
        tables = [self._candidates(part, kind) for part in self.models]
        vectors = torch.cat([*(table for table, _ in tables), torch.stack([bias for _, bias in tables], 1)], 1)
        return vectors, vectors.new_zeros(len(vectors))

    def _candidates(self, part: Model, kind: Kind) -> tuple[Tensor, Tensor]:
        """Vectors and biases of one part; zeros if it does not predict that kind."""
        if any(role.is_entity == (kind == "entity") for role in part.roles):
            return part.candidates(kind)
        vectors, _ = part.candidates("entity" if kind == "relation" else "relation")
        size = self.info.num_candidates(kind)
        return vectors.new_zeros(size, vectors.shape[1]), vectors.new_zeros(size)

    @property
    def embeds_values(self) -> bool:
        """Whether some part does."""
        return any(part.embeds_values for part in self.models)

    def vocabulary_tables(self) -> dict[str, tuple[Kind, ...]]:
        """Those of the parts."""
        tables = [(number, part.vocabulary_tables()) for number, part in enumerate(self.models)]
        return {f"parts.{number}.{name}": kinds for number, named in tables for name, kinds in named.items()}

    def tables(self, vocabulary: Vocabulary) -> dict[str, pl.DataFrame]:
        """The tables of the parts."""
        return {name: table for part in self.models for name, table in part.tables(vocabulary).items()}

    def attention(self, batch: Batch) -> Tensor | None:
        """The attention of the first part that has attention."""
        weights = (part.attention(batch) for part in self.models)
        return next((one for one in weights if one is not None), None)

    def factors(self, batch: Batch) -> Tensor:
        """What the scores of each part are multiplied with [B, P]: weight / temperature.

        Where elements are hidden, only the parts that support that are asked.
        """
        return torch.cat([self._factors(group) for group in batch.groups])

    def weights(self, batch: Batch) -> Tensor:
        """The weights of the log-probabilities of each part [B, P]."""
        return torch.cat([self._weights(group) for group in batch.groups])

    def _factors(self, group: Group) -> Tensor:
        return self._weights(group) / self.temperature[places(group, self.info.num_relations)[0]]

    def _weights(self, group: Group) -> Tensor:
        rows, relations = places(group, self.info.num_relations)
        weights = self.weight[rows, relations]
        factors = weights * self.can[rows]
        if group.hidden is not None:
            remaining = weights * self.can_if_hidden[rows]
            without_weight = (remaining == 0).all(1, keepdim=True)
            remaining = torch.where(without_weight, self.can_if_hidden[rows], remaining)
            factors = torch.where(group.hidden.any(1, keepdim=True), remaining, factors)
        return factors


def parts_of(model: Model) -> list[Model]:
    """The parts of a blend; none for other models."""
    return model.models if isinstance(model, Blend) else []


def places(group: Group, num_relations: int) -> tuple[Tensor, Tensor]:
    """Where the weights of each masked fact are: the row of its role [n], and its relation or attribute [n]."""
    m, device = group.qualifiers, group.ids.device
    rows = torch.tensor([weight_row(role) for role in layout.roles(m)], device=device)[group.columns]
    if group.partial is not None:
        rows = rows + len(ROLES) * group.partial
    key_columns = torch.tensor(
        [
            column - m if role is Role.VALUE else -1 if role is Role.RELATION else layout.RELATION
            for column, role in enumerate(layout.roles(m))
        ],
        device=device,
    )[group.columns]
    keys = group.ids.gather(1, key_columns.clamp(min=0)[:, None])[:, 0]
    unknown = key_columns < 0
    if group.hidden is not None:
        unknown = unknown | group.hidden.gather(1, key_columns.clamp(min=0)[:, None])[:, 0]
    return rows, torch.where(unknown, num_relations, keys)


def _take(batch: Batch, chosen: Tensor) -> Batch:
    """The chosen facts of a batch; ``chosen`` [B]."""
    groups, sizes = [], [len(group.columns) for group in batch.groups]
    for group, mask in zip(batch.groups, torch.split(chosen, sizes), strict=True):
        if mask.any():
            flags = (None if one is None else one[mask] for one in (group.hidden, group.partial))
            groups.append(Group(group.ids[mask], group.columns[mask], *flags))
    return Batch(groups)
