"""``[loss]`` and ``[training]`` of a recipe. The defaults are the settings of the published GRAN runs."""

from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, model_validator

from nary.config import Settings
from nary.errors import SettingError
from nary.registry import Registry

if TYPE_CHECKING:
    from nary.training.losses import Loss

BUILT_IN_LOSSES = {
    "cross_entropy": "nary.training.losses:CrossEntropyLoss",
    "softmax_bce": "nary.training.losses:SoftmaxBCELoss",
    "bce": "nary.training.losses:BCELoss",
    "sampled_softmax": "nary.training.sampled_softmax:SampledSoftmaxLoss",
    "sampled_cross_entropy": "nary.training.losses:SampledCrossEntropyLoss",
    "margin": "nary.training.losses:MarginLoss",
    "corruption_bce": "nary.training.losses:CorruptionBCELoss",
}
"""Models list which of these they can be trained with; a loss from another package may be tried with any model."""
LOSSES: "Registry[type[Loss]]" = Registry("loss", BUILT_IN_LOSSES)
"""The losses by name."""
DEFAULT_LOSS = "cross_entropy"
_MAX_COUNT = 1_000_000_000
_MAX_BATCH = 10_000_000


class LossSettings(Settings):
    """Base class for the settings of a loss."""

    name: str
    """The loss."""


class TrainingSettings(Settings):
    """How a model is trained."""

    epochs: int = Field(100, ge=0, le=_MAX_COUNT)
    """Passes over the training data."""
    max_steps: int = Field(0, ge=0, le=_MAX_COUNT)
    """The maximum number of steps. If the epochs have more, training and the schedule end there; 0 sets no limit."""
    batch_size: int = Field(1024, ge=1, le=_MAX_BATCH)
    """Masked instances per step."""
    learning_rate: float = Field(5e-4, gt=0)
    """The peak learning rate."""
    entity_lr_scale: float = Field(1.0, gt=0)
    """A factor for the learning rate of entity embeddings. Each occurs in few facts; all facts share other weights."""
    optimizer: Literal["adam", "adagrad", "sgd"] = "adam"
    lr_scheduler: Literal["linear", "exponential"] = "linear"
    """Linear warm-up and decay, or decay by a factor of ``lr_gamma`` after each epoch."""
    lr_gamma: float = Field(0.995, gt=0, le=1)
    """The factor of the exponential schedule."""
    warmup_ratio: float = Field(0.1, ge=0, lt=1)
    """The share of all steps that the linear schedule takes to warm up to its peak."""
    warmup_jump: bool = True
    """Decay along a line that has its peak at step 0, as published: the rate jumps down after the warm-up."""
    weight_decay: float = Field(0.01, ge=0)
    """Decoupled weight decay."""
    weight_decay_on: Literal["all", "matrices"] = "all"
    """Apply weight decay to every parameter, as published, or to all except biases and norms."""
    max_grad_norm: float = Field(1.0, ge=0)
    """Clip the norm of the whole gradient to this value; 0 does not clip."""
    adam_epsilon: float = Field(1e-6, gt=0)
    adam_epsilon_on: Literal["uncorrected", "corrected"] = "uncorrected"
    """Add epsilon to the uncorrected second moment, as published, or to the corrected one, as usual."""
    shuffle: Literal["facts", "instances"] = "facts"
    """Shuffle facts and keep the instances of a fact together, as published, or shuffle the instances."""
    merge_queries: bool = False
    """Visit instances that differ only in their answer once, with all their answers. The expected gradient stays the
    same. Requires shuffled instances."""
    relation_fraction: float = Field(1.0, gt=0, le=1)
    """The share of the instances with a relation as answer that an epoch visits, with a new sample in each epoch.
    Such instances are learned quickly. Values below 1 require shuffled instances."""
    qualifier_dropout: float = Field(0.0, ge=0, le=1)
    """The share of the instances that lose some qualifiers: between none and all except the one with the masked
    element. The model learns to answer partial queries."""
    seed: int = Field(0, ge=0, lt=1 << 31)
    """Equal seeds give equal weights."""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """The precision of matrix products in training; auto is bf16 if the processor has instructions for it."""
    device: str = "auto"
    """The device, such as cpu or cuda; auto is cuda if available."""
    eval_every: int = Field(0, ge=0, le=_MAX_COUNT)
    """Evaluate on the valid split every this many epochs and keep the best weights; 0: never."""
    patience: int = Field(0, ge=0, le=_MAX_COUNT)
    """Stop after this many validations without improvement; 0: never."""
    checkpoint_minutes: float = Field(5.0, gt=0)
    """Write a checkpoint at least this often."""

    @model_validator(mode="after")
    def _check_shuffle(self) -> Self:
        if self.shuffle == "facts" and (self.merge_queries or self.relation_fraction < 1):
            raise ValueError('merge_queries and relation_fraction need shuffle = "instances"')
        return self


def check_loss(training: TrainingSettings, loss: "type[Loss]", file: str | None = None) -> None:
    """Refuse settings of ``[training]`` that the loss cannot work with."""
    if loss.whole_facts and (training.merge_queries or training.relation_fraction < 1):
        raise SettingError(
            f'training.merge_queries and training.relation_fraction are for masked elements, but "{loss.name}" learns '
            "whole facts",
            "Leave them out, or set another loss.name.",
            file,
        )
    if training.merge_queries and not loss.merges_queries:
        raise SettingError(
            f'training.merge_queries is for losses against all candidates, not for "{loss.name}"',
            "Leave it out, or set another loss.name.",
            file,
        )
