"""``[training]`` of a recipe; the defaults are those of the published GRAN runs."""

from typing import Literal, Self

from pydantic import Field, model_validator

from nary.config import Settings


class TrainingSettings(Settings):
    """How a model learns."""

    epochs: int = Field(100, ge=0)
    """How often every fact is learned from."""
    batch_size: int = Field(1024, ge=1)
    """Masked instances a step."""
    learning_rate: float = Field(5e-4, gt=0)
    """The peak learning rate."""
    entity_lr_scale: float = Field(1.0, gt=0)
    """Times the rate for the vectors of entities: few facts speak of each, while all facts share the other weights."""
    optimizer: Literal["adam", "adagrad", "sgd"] = "adam"
    lr_scheduler: Literal["linear", "exponential"] = "linear"
    """Climb and fall in straight lines, or fall by the factor ``epoch_decay`` after each epoch."""
    lr_gamma: float = Field(0.995, gt=0, le=1)
    """Of the exponential schedule."""
    warmup_ratio: float = Field(0.1, ge=0, lt=1)
    """The share of all steps in which the rate climbs to its peak."""
    warmup_jump: bool = True
    """After the warm-up fall from where a straight line from step 0 would be, as published: the rate jumps there."""
    weight_decay: float = Field(0.01, ge=0)
    """Decoupled weight decay."""
    weight_decay_on: Literal["all", "matrices"] = "all"
    """Decay every parameter, as published, or leave biases and norms out."""
    max_grad_norm: float = Field(1.0, ge=0)
    """The largest norm of the whole gradient; 0 leaves it as it is."""
    adam_epsilon: float = Field(1e-6, gt=0)
    adam_epsilon_on: Literal["uncorrected", "corrected"] = "uncorrected"
    """Where epsilon is added: to the uncorrected second moment, as published, or as usual to the corrected one."""
    loss: Literal["cross_entropy", "softmax_bce", "bce", "sampled_cross_entropy", "margin", "corruption_bce"] = (
        "cross_entropy"
    )
    """Against all candidates: cross-entropy, or every candidate's probability as a yes or no of its own: (binary) the
    share it has of all, or (sigmoid) one that depends on its score alone.
    Against ``negatives`` random candidates of each position: cross-entropy, or a margin. Or (logistic) whole facts,
    each once an epoch, against ``negatives`` corruptions of it, as a yes or no."""
    negatives: int = Field(10, ge=1)
    """Random candidates, or corruptions, for each instance; for the losses sampled, margin and logistic."""
    near_negatives: float = Field(0.0, ge=0, le=1)
    """The share of the random entities, for the losses sampled and margin, that are of those seen in the same slot
    of the relation: harder to tell from the true ones."""
    corrupt_values: float | None = Field(None, ge=0, le=1)
    """How likely the corruptions of a batch replace a value, not a role; by the numbers of entities and relations if
    this is not given."""
    corrupt_from: Literal["slot", "relation", "mixed", "all"] = "slot"
    """Replace an entity by one seen in the same slot of the relation; by one seen anywhere with the relation; by one of
    the slot in half of the cases and any in the other half; or by any."""
    margin: float = Field(0.5, gt=0)
    """By how much the answer should score more than random candidates; for the objective margin."""
    entity_smoothing: float = Field(0.0, ge=0, lt=1)
    """The share of the label that all entities get evenly, where an entity is the answer."""
    relation_smoothing: float = Field(0.0, ge=0, lt=1)
    """The same where a relation is."""
    shuffle: Literal["facts", "instances"] = "facts"
    """Shuffle facts and keep all masks of one fact side by side, as published, or shuffle the masks."""
    merge_queries: bool = False
    """Visit instances that differ in nothing but the answer once, with all their answers: the gradient that is expected
    stays the same. Needs shuffled instances."""
    relation_fraction: float = Field(1.0, gt=0, le=1)
    """The share of the instances with a relation as answer, which are soon learned, that an epoch visits. Less than 1
    needs shuffled instances."""
    value_weight: float = Field(1.0, gt=0)
    """How much an instance with a value as answer counts beside the others; for the objective softmax."""
    seed: int = Field(0, ge=0, lt=1 << 31)
    """Equal seeds give equal weights."""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """Of the products in training; auto takes bf16 where the processor has instructions for it."""
    device: str = "auto"
    """Such as cpu or cuda; auto takes an accelerator if there is one."""
    eval_every: int = Field(0, ge=0)
    """Rank the valid split after every so many epochs and keep the best weights; 0 never does."""
    patience: int = Field(0, ge=0)
    """Stop after so many validations without a better one; 0 never does."""
    checkpoint_minutes: float = Field(5.0, gt=0)
    """Save at least this often."""

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if self.shuffle == "facts" and (self.merge_queries or self.relation_fraction < 1):
            raise ValueError('merge and relation_visits need shuffle = "instances"')
        if self.merge_queries and self.loss in ("sampled_cross_entropy", "margin"):
            raise ValueError(f'merge is for losses against all candidates, not for "{self.loss}"')
        if self.loss == "corruption_bce" and (self.merge_queries or self.relation_fraction < 1):
            raise ValueError(
                'merge and relation_visits are for masked elements, but "corruption_bce" learns whole facts'
            )
        if self.near_negatives and self.loss not in ("sampled_cross_entropy", "margin"):
            raise ValueError(
                f'near_negatives is for the losses "sampled_cross_entropy" and "margin", not for "{self.loss}"'
            )
        if self.value_weight != 1 and self.loss != "cross_entropy":
            raise ValueError(f'value_weight is for the objective "cross_entropy", not for "{self.loss}"')
        return self
