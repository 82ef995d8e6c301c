"""STARE, as the published code computes it, on mixed arities."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Self

import torch
from torch import Tensor, nn

from nary.config import Settings
from nary.errors import SettingError
from nary.facts import FactTable, Role
from nary.models.batch import Batch
from nary.models.contract import Kind, Model, Sizes
from nary.models.stare.decoder import Decoder
from nary.models.stare.encoder import GraphEncoder
from nary.models.stare.graph import MessageGraph
from nary.models.stare.sequences import Sequences
from nary.models.stare.settings import StareSettings


class Stare(Model):
    """Embeddings -> messages along the facts learned from -> a Transformer over the question -> scores.

    All questions of a batch, and all its candidates, share one run of the graph encoder. In training that is a run a
    step; otherwise one run serves until the weights may have changed, and has no gradients.
    """

    name = "stare"
    supports_multiple_masks = True
    losses = frozenset({"cross_entropy", "softmax_bce", "bce"})

    @classmethod
    def roles_of(cls, settings: Settings) -> frozenset[Role]:
        """All, or subjects and objects alone."""
        narrow = isinstance(settings, StareSettings) and settings.predicts == "subject-object"
        return frozenset({Role.SUBJECT, Role.OBJECT}) if narrow else cls.roles

    def __init__(self, settings: StareSettings, sizes: Sizes) -> None:
        super().__init__()
        _check(settings)
        self.settings = settings
        self.sizes = sizes
        self.roles = self.roles_of(settings)
        self.supports_multiple_masks = settings.predicts == "all"  # else nothing is learned of what a gap looks like
        pads, width = settings.padding, settings.hidden_dim
        entities = nn.init.xavier_normal_(torch.empty(sizes.entities, width))
        self.entity_embedding = nn.Parameter(_with_zeros(entities, pads))
        self.encoder: GraphEncoder | None = None
        if settings.variant == "graph":
            self.encoder = GraphEncoder(settings, MessageGraph(settings, sizes))
            relations = _on_the_circle(sizes.relations, width)
        else:
            relations = nn.init.xavier_normal_(torch.empty(2 * sizes.relations, width))
        self.relation_embedding = nn.Parameter(_with_zeros(relations, pads))
        padded = settings.padded_qualifiers if pads else 0
        self.decoder = Decoder(settings, max(sizes.max_arity - 2, padded))
        self._encoded: tuple[Tensor, Tensor] | None = None

    def prepare(self, train: FactTable) -> None:
        """Send messages along these facts."""
        self._encoded = None
        if self.encoder is not None:
            self.encoder.graph.hold(train)

    def encode(self, batch: Batch) -> Tensor:
        """The query vector of each question [B, d]."""
        if self.training:
            self._encoded = None  # a new step
        sequences = [Sequences.of(group, self.settings, self.sizes) for group in batch.groups]
        return self.decoder(sequences, *self._encode())

    def candidates(self, kind: Kind) -> tuple[Tensor, Tensor]:
        """The vectors of all entities, or of all relations, after the graph encoder [C, d]; their biases are zero."""
        entities, relations = self._encode()
        vectors = entities[: self.sizes.entities] if kind == "entity" else relations[: self.sizes.relations]
        return vectors, vectors.new_zeros(len(vectors))

    def post_step(self) -> None:
        """Forget what was encoded: the step is done, the weights have changed."""
        self._encoded = None

    def train(self, mode: bool = True) -> Self:
        """Between training and use the weights change."""
        if mode or self.training:
            self._encoded = None
        return super().train(mode)

    def _encode(self) -> tuple[Tensor, Tensor]:
        """The vectors of entities [E, d] and of relations in both directions [2R, d].

        In training they belong to the step: :meth:`encode`, with which a step begins, makes them anew, so that
        :meth:`candidates` has the same, with the same dropout, and :meth:`post_step`, with which it ends, forgets them.
        """
        if self.encoder is None:
            return self.entity_embedding, self.relation_embedding
        if self._encoded is None:
            if self.training:
                self._encoded = self.encoder(self.entity_embedding, self.relation_embedding)
            else:  # to be kept, so it must be of use outside of inference mode too
                with torch.inference_mode(False), torch.no_grad():
                    self._encoded = self.encoder(self.entity_embedding, self.relation_embedding)
        return self._encoded

    def _load_from_state_dict(self, state_dict: Mapping[str, Any], prefix: str, *others: Any) -> None:
        self._encoded = None
        super()._load_from_state_dict(state_dict, prefix, *others)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        self._encoded = None  # the weights move to another device or precision
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


def _on_the_circle(relations: int, width: int) -> Tensor:
    """Rotations by random angles [2R, d], and then back by the same."""
    angles = 2 * math.pi * torch.rand(relations, width // 2)
    cosine, sine = angles.cos(), angles.sin()
    return torch.cat([torch.stack([cosine, own], -1).flatten(1) for own in (sine, -sine)])


def _with_zeros(table: Tensor, rows: int) -> Tensor:
    return torch.cat([table, table.new_zeros(rows, table.shape[1])])
