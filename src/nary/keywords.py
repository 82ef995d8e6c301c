"""The keyword arguments of :func:`nary.train`: the keys of a recipe by their own names, for editors and type checkers.

The settings classes say what each key means; ``nary recipes`` prints it. A test keeps this list complete.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict


class TrainKeywords(TypedDict, total=False):
    """Keys of ``[training]``, ``[loss]``, ``[model]``, ``[data]`` and ``[evaluation]``."""

    # [training]
    epochs: int
    max_steps: int
    batch_size: int
    learning_rate: float
    entity_lr_scale: float
    optimizer: Literal["adam", "adagrad", "sgd"]
    lr_scheduler: Literal["linear", "exponential"]
    lr_gamma: float
    warmup_ratio: float
    warmup_jump: bool
    weight_decay: float
    weight_decay_on: Literal["all", "matrices"]
    max_grad_norm: float
    adam_epsilon: float
    adam_epsilon_on: Literal["uncorrected", "corrected"]
    shuffle: Literal["facts", "instances"]
    merge_queries: bool
    relation_fraction: float
    qualifier_dropout: float
    seed: int
    precision: Literal["auto", "fp32", "bf16"]
    eval_every: int
    patience: int
    checkpoint_minutes: float
    # [loss]
    loss: str
    entity_label_smoothing: float
    relation_label_smoothing: float
    value_weight: float
    num_candidates: int
    sampler: Literal["uniform", "frequency"]
    frequency_power: float
    in_batch: Literal["all", "answers", "none"]
    logq_correction: bool
    num_negatives: int
    slot_negatives: float
    margin: float
    value_fraction: float | None
    negative_pool: Literal["slot", "relation", "mixed", "all"]
    # [model]
    variant: Literal["complete", "graph", "hete", "homo", "hype", "published", "transformer"]
    num_layers: int
    num_heads: int
    hidden_dim: int
    ffn_dim: int
    dropout: float
    role_embeddings: Literal["none", "role", "position"]
    edge_bias: Literal["shared", "per-head", "per-layer"]
    edge_bias_on: Literal["both", "key", "value", "none"]
    pair_edges: bool
    norm: Literal["post", "pre"]
    parts: Sequence[str | Mapping[str, Any]]
    tie_embeddings: bool
    head: Literal["code", "equation"]
    partial_embedding: bool
    composition_residual: bool
    near_facts: int
    value_knots: int
    predicts: Literal["all", "subject-object"]
    num_graph_layers: int
    relation_weight: float
    degree_norm: Literal["received", "both"]
    message_dropout: float
    graph_dropout: float
    position_init_std: float
    pooling: Literal["padded-mean", "mean"]
    padded_qualifiers: int
    embedding_dim: int
    init_mean: float
    input_dropout: float
    hidden_dropout: float
    max_core_size: float
    rank: int
    num_filters: int
    filter_size: int
    stride: int
    num_parts: int
    num_bases: int
    role_dropout: float
    entity_dropout: float
    learning: Literal["joint", "alternating"]
    relatedness: float
    round_epochs: list[int]
    round_learning_rates: list[float]
    fcn_dim: int
    validity_weight: float
    primary: Literal["given", "most-distinct"]
    prior: float
    min_support: int
    min_confidence: float
    max_degree: int
    chains: bool
    joint_features: bool
    fit_weights: bool
    # [data and evaluation]
    train_on: list[Literal["train", "valid"]]
    valid_fraction: float | None
    qualifiers: bool
    filter: Literal["slots", "order-free", "primary", "none"]
    filter_splits: list[Literal["train", "valid", "test", "context"]]
    ties: Literal["mean", "optimistic", "pessimistic"]
    candidates: Literal["all", "seen"]
    positions: list[Literal["relation", "subject", "object", "attribute", "value"]]
    given: int | Literal["all", "none", "curve"]
    memory: int
