"""STARE, as the published code computes it, on mixed arities. The settings' defaults are the published ones, except
that all positions are predicted.
"""

import math
from collections.abc import Callable
from typing import Literal, Self

import torch
from pydantic import Field
from torch import Tensor, nn

from nary.config import Settings
from nary.errors import SettingError
from nary.facts import Role
from nary.models.base import DatasetInfo, Kind, Model
from nary.models.batch import Batch
from nary.models.stare.decoder import Decoder, Sequences
from nary.models.stare.encoder import GraphEncoder
from nary.models.stare.graph import MessageGraph


class StareSettings(Settings):
    """``[model]`` of a recipe for STARE."""

    name: Literal["stare"] = "stare"
    variant: Literal["graph", "transformer"] = "graph"
    """With the graph encoder, or the Transformer alone over plain embeddings."""
    predicts: Literal["all", "subject-object"] = "all"
    """The positions that are learned and predicted: all, or as published subjects and objects only."""
    hidden_dim: int = Field(200, ge=2)
    num_graph_layers: int = Field(2, ge=1)
    relation_weight: float = Field(0.8, ge=0, le=1)
    """The weight of the relation in an edge; the rest is that of its qualifiers."""
    degree_norm: Literal["received", "both"] = "received"
    """Divides a message by the root of the degrees of its two entities: the messages that each receives in that
    direction, as published, so that an entity that receives none sends none; or those received by one and sent by the
    other."""
    message_dropout: float = Field(0.1, ge=0, lt=1)
    """Of the sum of the messages to an entity."""
    graph_dropout: float = Field(0.3, ge=0, lt=1)
    """Of the entities after each layer of the graph encoder."""
    num_layers: int = Field(2, ge=1)
    """Of the Transformer, like all settings below."""
    num_heads: int = Field(4, ge=1)
    ffn_dim: int = Field(512, ge=1)
    dropout: float = Field(0.1, ge=0, lt=1)
    position_init_std: float = Field(1.0, gt=0)
    """The initial deviation of the position vectors. Without the graph encoder, whose vectors are about as large as the
    published 1, it may hide the small embeddings of entities for long."""
    pooling: Literal["padded-mean", "mean"] = "padded-mean"
    """Read subjects and objects from the mean over the sequence, padding included as published, or left out."""
    padded_qualifiers: int = Field(6, ge=0)
    """Sequences are padded to this number of qualifiers; longer ones are not cut."""

    @property
    def padding(self) -> int:
        """The number of rows for padding in the tables of entities and relations."""
        return int(self.pooling == "padded-mean")


class Stare(Model):
    """Embeddings -> messages along the facts learned from -> a Transformer over the query -> scores.

    All queries of a batch, and all its candidates, share one run of the graph encoder, :meth:`encode_graph`. In
    training mode :meth:`encode` runs it once a step; in evaluation mode one run, without gradients, serves until the
    weights change.
    """

    name = "stare"
    settings_class = StareSettings
    family = "graph encoder"
    description = "message passing over all facts, then a Transformer over the query"
    reference = "Galkin et al., Message Passing for Hyper-Relational Knowledge Graphs, EMNLP 2020"
    supports_multiple_masks = True
    losses = frozenset({"cross_entropy", "sampled_softmax", "softmax_bce", "bce"})
    settings: StareSettings

    @classmethod
    def roles_of(cls, settings: Settings) -> frozenset[Role]:
        """All roles, or subjects and objects only."""
        narrow = isinstance(settings, StareSettings) and settings.predicts == "subject-object"
        return frozenset({Role.SUBJECT, Role.OBJECT}) if narrow else cls.roles

    def __init__(self, settings: StareSettings, info: DatasetInfo) -> None:
        _check(settings)
        super().__init__(settings, info)
        self.roles = self.roles_of(settings)
        self.supports_multiple_masks = settings.predicts == "all"  # otherwise the mask vector is never trained
        pads, width = settings.padding, settings.hidden_dim
        entities = nn.init.xavier_normal_(torch.empty(info.num_entities, width))
        self.entity_embedding = nn.Parameter(_with_zeros(entities, pads))
        self.encoder: GraphEncoder | None = None
        if settings.variant == "graph":
            self.encoder = GraphEncoder(settings, MessageGraph(settings, info))
            relations = _random_rotations(info.num_relations, width)
        else:
            relations = nn.init.xavier_normal_(torch.empty(2 * info.num_relations, width))
        self.relation_embedding = nn.Parameter(_with_zeros(relations, pads))
        padded = settings.padded_qualifiers if pads else 0
        self.decoder = Decoder(settings, max(info.max_arity - 2, padded))
        self._encoded: tuple[Tensor, Tensor] | None = None
        self.register_load_state_dict_post_hook(lambda model, _: model.clear_graph())  # type: ignore[no-untyped-call]

    def encode(self, batch: Batch) -> Tensor:
        """The query vector of each query [B, d]; in training mode it starts a new step."""
        if self.training:
            self.clear_graph()
        groups = [Sequences.of(group, self.settings, self.info) for group in batch.groups]
        return self.decoder(groups, *self.encode_graph())

    def candidates(self, kind: Kind) -> tuple[Tensor, Tensor]:
        """The encoded vectors of all entities, or of all relations [C, d]; their biases are zero."""
        entities, relations = self.encode_graph()
        vectors = entities if kind == "entity" else relations
        vectors = vectors[: self.info.num_candidates(kind)]
        return vectors, vectors.new_zeros(len(vectors))

    def entity_tables(self) -> dict[str, int]:
        """None with the graph encoder, whose messages involve all entities."""
        return {} if self.encoder else super().entity_tables()

    def encode_graph(self) -> tuple[Tensor, Tensor]:
        """The vectors of all entities [E, d] and of relations in both directions [2R, d] after the graph encoder.

        The result is kept until :meth:`clear_graph`, so that :meth:`encode` and :meth:`candidates` use the same, with
        the same dropout.
        """
        if self.encoder is None:
            return self.entity_embedding, self.relation_embedding
        if self._encoded is None:
            if self.training:
                self._encoded = self.encoder(self.entity_embedding, self.relation_embedding)
            else:  # kept for later calls, which may be outside of inference mode
                with torch.inference_mode(False), torch.no_grad():
                    self._encoded = self.encoder(self.entity_embedding, self.relation_embedding)
        return self._encoded

    def clear_graph(self) -> None:
        """Forget the result of :meth:`encode_graph`: the weights have changed."""
        self._encoded = None

    def post_step(self) -> None:
        """End a training step."""
        self.clear_graph()

    def train(self, mode: bool = True) -> Self:
        """Switch between training and evaluation mode."""
        if mode or self.training:
            self.clear_graph()
        return super().train(mode)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        self.clear_graph()  # the weights move to another device or precision
        return super()._apply(fn, recurse)  # type: ignore[no-untyped-call]


def _check(settings: StareSettings) -> None:
    if settings.hidden_dim % 2:
        raise SettingError(
            f"model.hidden_dim is {settings.hidden_dim}, but two coordinates make a complex number",
            "Choose an even width.",
        )
    if settings.hidden_dim % settings.num_heads:
        raise SettingError(
            f"model.hidden_dim is {settings.hidden_dim}, which {settings.num_heads} heads cannot share evenly",
            "Choose a multiple of model.num_heads.",
        )


def _random_rotations(relations: int, width: int) -> Tensor:
    """Rotations by random angles, then the inverse rotations [2R, d]."""
    angles = 2 * math.pi * torch.rand(relations, width // 2)
    cosine, sine = angles.cos(), angles.sin()
    return torch.cat([torch.stack([cosine, signed], -1).flatten(1) for signed in (sine, -sine)])


def _with_zeros(table: Tensor, rows: int) -> Tensor:
    return torch.cat([table, table.new_zeros(rows, table.shape[1])])
