"""The training losses (``[loss]`` of a recipe), each with its own settings.

A loss from another package derives from :class:`Loss`, or from :class:`CandidateLoss` if it scores all candidates::

    @register_loss
    class HingeLoss(CandidateLoss):
        name = "hinge"
        settings_class = HingeLossSettings  # a LossSettings with the keys of [loss]
"""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.facts.layout import first_value
from nary.models.base import DatasetInfo, Kind, Model
from nary.models.batch import Group
from nary.training.batches import TrainingBatch
from nary.training.kernels import Targets, chunked_cross_entropy, sigmoid_bce, softmax_bce
from nary.training.sampling import CorruptionSampler, NegativePool, NegativeSampler
from nary.training.settings import LOSSES, LossSettings


class Loss:
    """A training loss. It is built once per training run from its settings and the training facts."""

    name: ClassVar[str]
    settings_class: ClassVar[type[LossSettings]]
    whole_facts: ClassVar[bool] = False
    """Whether an epoch visits every fact once instead of every masked element once."""
    merges_queries: ClassVar[bool] = False
    """Whether a query can have several targets (``training.merge_queries``)."""
    by_rows: ClassVar[bool] = False
    """Whether a step uses and updates only a few rows of the entity tables (``nary.training.rows``)."""

    settings: LossSettings

    def __init__(self, settings: LossSettings, info: DatasetInfo, device: torch.device | None = None) -> None:
        self.settings = settings

    def __call__(self, model: Model, batch: TrainingBatch, *given: Any) -> Tensor:
        """The loss of a batch plus the extra loss of the model, if any; ``given`` is passed to :meth:`forward`."""
        loss = self.forward(model, batch, *given)
        extra = model.extra_loss(batch.batch)
        return loss if extra is None else loss + extra

    def forward(self, model: Model, batch: TrainingBatch) -> Tensor:
        """The loss of a batch, defined by a subclass."""
        raise NotImplementedError


def register_loss(loss: type[Loss]) -> type[Loss]:
    """A class decorator that adds a loss under its ``name``."""
    return LOSSES.register(loss.name)(loss)


def make_loss(settings: LossSettings, info: DatasetInfo, device: torch.device | None = None) -> Loss:
    """The loss named ``settings.name``."""
    return LOSSES.get(settings.name)(settings, info, device)


class CandidateLoss(Loss):
    """A loss against all candidates: the mean over the instances of a batch, whether entities or relations."""

    merges_queries = True

    def forward(self, model: Model, batch: TrainingBatch) -> Tensor:
        """The loss of a batch."""
        queries = model.encode(batch.batch)
        loss = queries.new_zeros((), dtype=torch.float32)
        for kind, chosen, targets in split_targets(batch, self.target_weights(batch)):
            loss = loss + self.candidate_loss(kind, queries[chosen], *model.candidates(kind), targets)
        return loss / len(batch.batch)

    def target_weights(self, batch: TrainingBatch) -> Tensor:
        """The weight of each target [K]."""
        return batch.weights

    def candidate_loss(self, kind: Kind, queries: Tensor, candidates: Tensor, bias: Tensor, targets: Targets) -> Tensor:
        """The summed loss of queries [B, d] against candidates [C, d] with ``bias`` [C], defined by a subclass."""
        raise NotImplementedError


def split_targets(batch: TrainingBatch, weights: Tensor) -> Iterator[tuple[Kind, Tensor, Targets]]:
    """For each kind of answer in a batch: which queries ask for it [B], and their targets with ``weights`` [K]."""
    asks_entity = batch.batch.asks_entity
    kinds: tuple[tuple[Kind, Tensor], ...] = (("entity", asks_entity), ("relation", ~asks_entity))
    for kind, chosen in kinds:
        if chosen.any():
            of_kind = chosen[batch.rows]
            rows = (chosen.cumsum(0) - 1)[batch.rows[of_kind]]
            yield kind, chosen, Targets(rows, batch.targets[of_kind], weights[of_kind])


class SmoothedSettings(LossSettings):
    """Settings of a loss with smoothed labels."""

    entity_label_smoothing: float = Field(0.0, ge=0, lt=1)
    """Label smoothing for entity answers: the share of the label that is spread evenly over all entities."""
    relation_label_smoothing: float = Field(0.0, ge=0, lt=1)
    """Label smoothing for relation answers."""

    def smoothing(self, kind: Kind) -> float:
        """The label smoothing for a kind of candidates."""
        return self.entity_label_smoothing if kind == "entity" else self.relation_label_smoothing


class CrossEntropySettings(SmoothedSettings):
    """Settings of :class:`CrossEntropyLoss`."""

    name: Literal["cross_entropy"] = "cross_entropy"
    """Cross-entropy of a softmax over all candidates."""
    value_weight: float = Field(1.0, gt=0)
    """The weight of instances whose answer is a value; all other instances have weight 1."""


class CrossEntropyLoss(CandidateLoss):
    """Cross-entropy of a softmax over all candidates."""

    name = "cross_entropy"
    settings_class = CrossEntropySettings
    settings: CrossEntropySettings

    def target_weights(self, batch: TrainingBatch) -> Tensor:
        """The weights of the batch, multiplied by ``value_weight`` for values."""
        if self.settings.value_weight == 1:
            return batch.weights
        asks_value = torch.cat([group.columns >= first_value(group.qualifiers) for group in batch.batch.groups])
        return torch.where(asks_value[batch.rows], self.settings.value_weight * batch.weights, batch.weights)

    def candidate_loss(self, kind: Kind, queries: Tensor, candidates: Tensor, bias: Tensor, targets: Targets) -> Tensor:
        """Smoothed cross-entropy."""
        return chunked_cross_entropy(queries, candidates, bias, targets, self.settings.smoothing(kind))


class SoftmaxBCESettings(LossSettings):
    """Settings of :class:`SoftmaxBCELoss`."""

    name: Literal["softmax_bce"] = "softmax_bce"
    """Binary cross-entropy of every candidate's softmax probability."""


class SoftmaxBCELoss(CandidateLoss):
    """Binary cross-entropy of every candidate's softmax probability."""

    name = "softmax_bce"
    settings_class = SoftmaxBCESettings
    settings: SoftmaxBCESettings

    def candidate_loss(self, kind: Kind, queries: Tensor, candidates: Tensor, bias: Tensor, targets: Targets) -> Tensor:
        """Binary cross-entropy after a softmax."""
        return softmax_bce(queries, candidates, bias, targets)


class BCESettings(SmoothedSettings):
    """Settings of :class:`BCELoss`."""

    name: Literal["bce"] = "bce"
    """Binary cross-entropy of every candidate's sigmoid probability."""


class BCELoss(CandidateLoss):
    """Binary cross-entropy of every candidate's sigmoid probability."""

    name = "bce"
    settings_class = BCESettings
    settings: BCESettings

    def candidate_loss(self, kind: Kind, queries: Tensor, candidates: Tensor, bias: Tensor, targets: Targets) -> Tensor:
        """Smoothed binary cross-entropy."""
        return sigmoid_bce(queries, candidates, bias, targets, self.settings.smoothing(kind))


class NegativeSamplingSettings(LossSettings):
    """Settings of a loss against random candidates."""

    num_negatives: int = Field(10, ge=1)
    """Random candidates per instance."""
    slot_negatives: float = Field(0.0, ge=0, le=1)
    """The share of the random entities that are drawn from those seen in the same slot: hard negatives."""


class NegativeSamplingLoss(Loss):
    """A loss of facts against copies with random candidates at the masked position."""

    settings: NegativeSamplingSettings

    def __init__(self, settings: LossSettings, info: DatasetInfo, device: torch.device | None = None) -> None:
        super().__init__(settings, info, device)
        self.sampler = NegativeSampler(self.settings.num_negatives, self.settings.slot_negatives, info, device)

    def forward(self, model: Model, batch: TrainingBatch) -> Tensor:
        """The mean of the losses of a batch."""
        groups = batch.batch.groups
        ids = [self.sampler(group).flatten(0, 1) for group in groups]
        losses = [
            self.group_loss(scores.view(len(group.columns), -1), group)
            for group, scores in zip(groups, model.group_scores(ids), strict=True)
        ]
        return torch.stack([loss.sum() for loss in losses]).sum() / sum(len(loss) for loss in losses)

    def group_loss(self, scores: Tensor, group: Group) -> Tensor:
        """Losses from scores [n, 1 + k] of each fact and its negatives, defined by a subclass."""
        raise NotImplementedError


class SampledCrossEntropySettings(NegativeSamplingSettings):
    """Settings of :class:`SampledCrossEntropyLoss`."""

    name: Literal["sampled_cross_entropy"] = "sampled_cross_entropy"
    """Cross-entropy of a fact against random negatives."""


class SampledCrossEntropyLoss(NegativeSamplingLoss):
    """Cross-entropy of each fact against all its negatives in the batch, whichever element they replace."""

    name = "sampled_cross_entropy"
    settings_class = SampledCrossEntropySettings
    settings: SampledCrossEntropySettings

    def group_loss(self, scores: Tensor, group: Group) -> Tensor:
        """A loss for each distinct fact."""
        facts, numbers = torch.unique(group.ids, dim=0, return_inverse=True)
        margins = scores[:, 1:].logsumexp(1) - scores[:, 0]  # [n]
        # At least 0, the margin of the fact itself.
        largest = margins.new_zeros(len(facts)).scatter_reduce(0, numbers, margins.detach(), "amax")
        total = margins.new_zeros(len(facts)).index_add(0, numbers, (margins - largest[numbers]).exp())
        return largest + (total + (-largest).exp()).log()


class MarginSettings(NegativeSamplingSettings):
    """Settings of :class:`MarginLoss`."""

    name: Literal["margin"] = "margin"
    """A margin between the scores of a fact and of random negatives."""
    margin: float = Field(0.5, gt=0)
    """How much higher a fact should score than its negatives."""


class MarginLoss(NegativeSamplingLoss):
    """The summed margin violations of the negatives of each instance."""

    name = "margin"
    settings_class = MarginSettings
    settings: MarginSettings

    def group_loss(self, scores: Tensor, group: Group) -> Tensor:
        """A loss for each instance."""
        return (self.settings.margin - scores[:, :1] + scores[:, 1:]).clamp(min=0)


class CorruptionBCESettings(LossSettings):
    """Settings of :class:`CorruptionBCELoss`."""

    name: Literal["corruption_bce"] = "corruption_bce"
    """Binary cross-entropy of whole facts, each visited once per epoch, against corruptions of them."""
    num_negatives: int = Field(10, ge=1)
    """Corruptions per fact."""
    value_fraction: float | None = Field(None, ge=0, le=1)
    """The probability that a batch replaces entities, not relations; by default in proportion to their numbers."""
    negative_pool: NegativePool = "slot"
    """Replace an entity by one seen in the same slot (slot), by one seen anywhere with the same relation or attribute
    (relation), by one from the slot or any entity, half each (mixed), or by any entity (all)."""


class CorruptionBCELoss(Loss):
    """The mean of softplus(-score) over facts and softplus(score) over their corruptions."""

    name = "corruption_bce"
    settings_class = CorruptionBCESettings
    whole_facts = True
    settings: CorruptionBCESettings

    def __init__(self, settings: LossSettings, info: DatasetInfo, device: torch.device | None = None) -> None:
        super().__init__(settings, info, device)
        self.sampler = CorruptionSampler(
            self.settings.num_negatives, self.settings.value_fraction, self.settings.negative_pool, info, device
        )

    def forward(self, model: Model, batch: TrainingBatch) -> Tensor:
        """The loss of a batch."""
        facts = [group.ids for group in batch.batch.groups]
        both = [torch.cat(pair) for pair in zip(facts, self.sampler(facts), strict=True)]
        signed = [
            torch.cat([-scores[: len(true)], scores[len(true) :]])
            for true, scores in zip(facts, model.group_scores(both), strict=True)
        ]
        return nn.functional.softplus(torch.cat(signed).float()).mean()
