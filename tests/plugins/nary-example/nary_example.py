"""One component of each kind that Nary can be extended with; ``pyproject.toml`` makes them known by name."""

from typing import Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

import nary
from nary.config import Settings
from nary.data.io import LineError, LineFormat, Record, make_record
from nary.evaluation.metrics import RankArray
from nary.facts import Role
from nary.models.base import DatasetInfo, Kind
from nary.models.batch import Batch, entities_of, relations_of, slot_of_column
from nary.training.kernels import Targets
from nary.training.losses import CandidateLoss
from nary.training.settings import LossSettings

_PEOPLE = 24


class TranslationSettings(Settings):
    """``[model]`` of a recipe."""

    name: Literal["translation"] = "translation"
    embedding_dim: int = Field(16, ge=1)


class Translation(nary.Model):
    """A query is the sum of the known entities and of the relations, plus a vector of the slot that is asked for."""

    name = "translation"
    settings_class = TranslationSettings
    family = "translation"
    description = "a sum of the vectors of a fact"
    roles = frozenset({Role.SUBJECT, Role.OBJECT, Role.VALUE})

    def __init__(self, settings: TranslationSettings, info: DatasetInfo) -> None:
        super().__init__(settings, info)
        self.entity = nn.Embedding(info.num_entities, settings.embedding_dim)
        self.relation = nn.Embedding(info.num_relations, settings.embedding_dim)
        self.slot = nn.Embedding(info.max_arity, settings.embedding_dim)

    def encode(self, batch: Batch) -> Tensor:
        """A query vector for each masked fact [B, d]."""
        queries = []
        for group in batch.groups:
            slots = slot_of_column(group.columns, group.qualifiers)
            masked = nn.functional.one_hot(slots, 2 + group.qualifiers).bool()
            entities = self.entity(entities_of(group.ids)).masked_fill(masked[..., None], 0)
            queries.append(entities.sum(1) + self.relation(relations_of(group.ids)).sum(1) + self.slot(slots))
        return torch.cat(queries)

    def candidates(self, kind: Kind) -> tuple[Tensor, Tensor]:
        """The vectors of all entities, without biases."""
        return self.entity.weight, self.entity.weight.new_zeros(len(self.entity.weight))


class HingeSettings(LossSettings):
    """``[loss]`` of a recipe."""

    name: Literal["hinge"] = "hinge"
    margin: float = Field(1.0, gt=0)
    """By how much the score of an answer should exceed that of any other candidate."""


class HingeLoss(CandidateLoss):
    """The mean hinge loss of the answer against every other candidate."""

    name = "hinge"
    settings_class = HingeSettings
    settings: HingeSettings

    def candidate_loss(self, kind: Kind, queries: Tensor, candidates: Tensor, bias: Tensor, targets: Targets) -> Tensor:
        """The summed loss of the queries."""
        scores = torch.addmm(bias, queries, candidates.T)[targets.rows]
        answers = scores.gather(1, targets.candidates[:, None])
        return ((self.settings.margin + scores - answers).relu().mean(1) * targets.weights).sum()


def median_rank(ranks: RankArray) -> float:
    """The median of the ranks."""
    return float(np.median(ranks))


class Arrows(LineFormat):
    """``subject > relation > object``, one fact per line, without qualifiers."""

    extensions = (".arrows",)
    output_extension = ".arrows"

    def parse(self, line: str) -> Record:
        """Parse one line."""
        parts = line.split(" > ")
        if len(parts) != 3:
            raise LineError("not a triple", f"expected 3 elements, got {len(parts)}", "Write: Ada > knows > Bob")
        return make_record(*parts, [])

    def format_line(self, record: Record) -> str:
        """Format one fact."""
        return f"{record.subject} > {record.relation} > {record.object}"


@nary.register_dataset("ring", license="CC0", citation="none")
def ring() -> nary.Dataset:
    """People in a ring: everybody knows the next one and the one after that."""
    people = [f"person {number}" for number in range(_PEOPLE)]
    facts = [
        nary.Fact(people[i], f"knows {step}", people[(i + step) % _PEOPLE]) for i in range(_PEOPLE) for step in (1, 2)
    ]
    return nary.Dataset.from_facts("ring", {"train": facts})
