"""Cross-entropy against a sample of the entities, drawn once per step and shared by the batch.

The time and memory of a step then do not depend on the number of entities: the trainer looks up and updates only the
rows of the entity tables that the step uses (:mod:`nary.training.rows`).
"""

from typing import Literal, NamedTuple, Self

import numpy as np
import torch
from pydantic import Field, model_validator
from torch import Tensor

from nary.facts.layout import entity_columns
from nary.models.base import DatasetInfo, Model
from nary.models.batch import Batch
from nary.training.batches import TrainingBatch
from nary.training.kernels import Targets, chunked_cross_entropy
from nary.training.losses import Loss, SmoothedSettings, split_targets
from nary.training.settings import LossSettings


class SampledSoftmaxSettings(SmoothedSettings):
    """Settings of :class:`SampledSoftmaxLoss`."""

    name: Literal["sampled_softmax"] = "sampled_softmax"
    """Cross-entropy of a softmax over a sample of the entities, for large vocabularies; relations are not sampled."""
    num_candidates: int = Field(1024, ge=0)
    """The number of entities drawn per step, shared by the whole batch; 0 leaves only the entities of the batch."""
    sampler: Literal["uniform", "frequency"] = "uniform"
    """Draw all entities with equal probability, or in proportion to a power of their frequency in training facts."""
    frequency_power: float = Field(0.75, gt=0)
    """The exponent of the frequency; entities without facts are treated as if they occurred once."""
    in_batch: Literal["all", "answers", "none"] = "all"
    """Also score each query against all entities of the batch, only against its answers, which is cheaper for batches
    of thousands, or against none of them."""
    logq_correction: bool = True
    """Subtract from each score the log-probability that the entity is in the sample. The loss then estimates the loss
    over all entities."""

    @model_validator(mode="after")
    def _check_candidates(self) -> Self:
        if not self.num_candidates and self.in_batch == "none":
            raise ValueError("num_candidates = 0 needs in_batch = all or answers: otherwise there are no candidates")
        return self


class Sample(NamedTuple):
    """The entities that a batch is scored against [C], ascending, with all its answers.

    ``log_q`` [C] is the logarithm of the probability that each is in the sample: 0 without correction, and infinite for
    an answer that only its own queries are scored against.
    """

    ids: Tensor
    log_q: Tensor


class Pairs(NamedTuple):
    """Queries of a batch with an entity each: the row of the query, and the entity or its column; both [K]."""

    rows: Tensor
    entities: Tensor


class EntitySampler:
    """Draws entities with replacement, and knows how probable it is that one is drawn at least once."""

    def __init__(self, settings: SampledSoftmaxSettings, info: DatasetInfo, device: torch.device | None = None) -> None:
        self.settings = settings
        self.num_entities = info.num_entities
        counts = torch.zeros(0)
        if settings.in_batch != "none" or settings.sampler == "frequency":
            counts = torch.from_numpy(_occurrences(info)).to(device)
        self._share = None if settings.in_batch == "none" else counts / counts.sum().clamp(min=1)
        self._cumulative: Tensor | None = None
        if settings.sampler == "frequency":
            weights = counts.clamp(min=1).double().pow(settings.frequency_power)
            self._cumulative = (weights / weights.sum()).cumsum(0)

    def __call__(self, answers: Tensor, others: Tensor) -> Sample:
        """The sample for a batch with these ``answers`` [K] and these ``others`` [L] in its facts."""
        drawn = self._draw(answers.device)
        kept = {"all": [answers, others], "answers": [answers], "none": [answers[:0]]}
        in_batch = torch.cat(kept[self.settings.in_batch])
        ids = torch.unique(torch.cat([drawn, in_batch, answers]))
        log_q = self._log_probability(ids, len(in_batch)) if self.settings.logq_correction else torch.zeros_like(ids)
        return Sample(ids, torch.where(torch.isin(ids, torch.cat([drawn, in_batch])), log_q.float(), torch.inf))

    def _draw(self, device: torch.device) -> Tensor:
        count = self.settings.num_candidates
        if self._cumulative is None:
            return torch.randint(self.num_entities, (count,), device=device)
        drawn = torch.searchsorted(self._cumulative, torch.rand(count, dtype=torch.float64, device=device))
        return drawn.clamp(max=self.num_entities - 1)

    def _log_probability(self, ids: Tensor, num_in_batch: int) -> Tensor:
        """The logarithm of the probability that each of ``ids`` is drawn, or is in the batch, which has so many."""
        each = torch.full(ids.shape, 1 / self.num_entities, dtype=torch.float64, device=ids.device)
        if self._cumulative is not None:
            below = torch.where(ids > 0, self._cumulative[(ids - 1).clamp(min=0)], 0)
            each = self._cumulative[ids] - below
        log_absent = self.settings.num_candidates * torch.log1p(-each)
        if self._share is not None:
            log_absent -= num_in_batch * self._share[ids]
        return torch.log(-torch.expm1(log_absent))


def _occurrences(info: DatasetInfo) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """How often each entity occurs in the training facts [E]."""
    counts = np.zeros(info.num_entities, np.float32)
    for block in info.facts.blocks:
        counts += np.bincount(block.entities.ravel(), minlength=info.num_entities)
    return counts


class SampledSoftmaxLoss(Loss):
    """Cross-entropy of a softmax over a sample of the entities, or over all relations.

    The score of an entity c of the sample is corrected by -log q(c), so that the sum over the sample estimates the sum
    over all entities. The answers of a query, and what stands in its fact, are always there: their scores stay as they
    are. With label smoothing, the mean score over all entities is estimated in the same way.
    """

    name = "sampled_softmax"
    settings_class = SampledSoftmaxSettings
    merges_queries = True
    by_rows = True
    settings: SampledSoftmaxSettings

    def __init__(self, settings: LossSettings, info: DatasetInfo, device: torch.device | None = None) -> None:
        super().__init__(settings, info, device)
        self.num_entities = info.num_entities
        self.sampler = EntitySampler(self.settings, info, device)

    def sample(self, batch: TrainingBatch) -> Sample:
        """The entities for a batch, drawn with torch's random state."""
        return self.sampler(batch.targets[batch.batch.asks_entity[batch.rows]], given_entities(batch.batch).entities)

    def forward(self, model: Model, batch: TrainingBatch, sample: Sample | None = None) -> Tensor:
        """The loss of a batch with a sample, or with a new one."""
        sample = sample or self.sample(batch)
        queries = model.encode(batch.batch)
        loss = queries.new_zeros((), dtype=torch.float32)
        for kind, chosen, targets in split_targets(batch, batch.weights):
            smoothing = self.settings.smoothing(kind)
            vectors, bias = model.candidates(kind)
            if kind == "relation":
                loss = loss + chunked_cross_entropy(queries[chosen], vectors, bias, targets, smoothing)
            else:
                scores = torch.addmm(
                    bias.index_select(0, sample.ids), queries[chosen], vectors.index_select(0, sample.ids).T
                ).float()
                targets = targets._replace(candidates=torch.searchsorted(sample.ids, targets.candidates))
                given = self._given_columns(batch.batch, chosen, sample)
                loss = loss + sampled_cross_entropy(scores, sample.log_q, targets, given, smoothing, self.num_entities)
        return loss / len(batch.batch)

    def _given_columns(self, batch: Batch, chosen: Tensor, sample: Sample) -> Pairs:
        """For the ``chosen`` queries, the columns of the entities in their facts, if these are in every sample."""
        rows, entities = given_entities(batch)
        kept = chosen[rows] & (self.settings.in_batch == "all")
        return Pairs((chosen.cumsum(0) - 1)[rows[kept]], torch.searchsorted(sample.ids, entities[kept]))


def given_entities(batch: Batch) -> Pairs:
    """The entities that stand in the facts of a batch, besides the masked ones."""
    rows, entities, first = [], [], 0
    for group in batch.groups:
        columns = torch.tensor(entity_columns(group.qualifiers), device=group.ids.device)
        row, place = (columns != group.columns[:, None]).nonzero(as_tuple=True)
        rows.append(first + row)
        entities.append(group.ids[row, columns[place]])
        first += len(group.ids)
    return Pairs(torch.cat(rows), torch.cat(entities))


def sampled_cross_entropy(
    scores: Tensor, log_q: Tensor, targets: Targets, given: Pairs, smoothing: float, num_candidates: int
) -> Tensor:
    """The sum over ``targets`` of weight * cross-entropy, estimated from ``scores`` [B, C] of a sample.

    ``num_candidates`` is how many candidates there are in all; of a target and of what is ``given``, the candidate is a
    column, and the score is not corrected.
    """
    answers = scores[targets.rows, targets.candidates]
    certain = torch.cat([targets.rows, given.rows]), torch.cat([targets.candidates, given.entities])
    corrections = log_q.expand(len(scores), -1).index_put(certain, log_q.new_zeros(()))
    normalizers = (scores - corrections).logsumexp(1)
    wrong = smoothing / max(1, num_candidates - 1)  # the label of a candidate that is no target
    losses = normalizers[targets.rows] - (1 - smoothing - wrong) * answers
    if smoothing:
        means = scores @ torch.softmax(-log_q, 0)  # of all candidates: one of the sample stands for 1 / q
        losses = losses - wrong * num_candidates * means[targets.rows]
    return targets.weights @ losses
