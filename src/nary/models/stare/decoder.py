"""The Transformer that turns a question into a query vector.

Letters: B questions, n of one arity, T tokens of each, N tokens of all, q qualifiers with padding, d width, H heads.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from nary.models.dropout import Dropout
from nary.models.lookup import look_up
from nary.models.stare.sequences import Sequences
from nary.models.stare.settings import StareSettings


class Decoder(nn.Module):
    """Vectors of tokens and of their positions -> attention -> what is read from the tokens -> query vectors."""

    def __init__(self, settings: StareSettings, qualifiers: int) -> None:
        """``qualifiers`` is the largest number of them that has positions of its own."""
        super().__init__()
        self.qualifiers = max(1, qualifiers)
        start = settings.position_init_std
        self.mask = nn.Parameter(start * torch.randn(1, settings.hidden_dim))
        self.positions = nn.Parameter(start * torch.randn(3 + 2 * self.qualifiers, settings.hidden_dim))
        self.layers = nn.ModuleList(DecoderLayer(settings) for _ in range(settings.num_layers))
        self.output = nn.Linear(settings.hidden_dim, settings.hidden_dim)

    def forward(self, sequences: Sequence[Sequences], entities: Tensor, relations: Tensor) -> Tensor:
        """Questions and the vectors of all entities [E, d] and relations [2R, d] -> query vectors [B, d]."""
        x = torch.cat([part.flatten(0, 1) for part in self._embed(sequences, entities, relations)])  # [N, d]
        visible = [own.visible for own in sequences]
        for layer in self.layers:
            x = layer(x, visible)
        sizes = [own.visible.shape for own in sequences]
        parts = x.split_with_sizes([n * length for n, length in sizes])
        read = [
            (own.read[:, None].to(x.dtype) @ part.view(*size, -1))[:, 0]
            for own, part, size in zip(sequences, parts, sizes, strict=True)
        ]
        query: Tensor = self.output(torch.cat(read))
        return query

    def _embed(self, sequences: Sequence[Sequences], entities: Tensor, relations: Tensor) -> Iterator[Tensor]:
        """The vectors of all tokens [n, T, d], arity by arity."""
        of_entities = look_up(entities, [own.entities for own in sequences])
        of_relations = look_up(relations, [own.relations for own in sequences])
        for own, entity, relation in zip(sequences, of_entities, of_relations, strict=True):
            pairs = torch.stack([relation[:, 1:], entity[:, 2:]], 2).flatten(1, 2)  # [n, 2q, d]
            known = torch.cat([entity[:, :1], relation[:, :1], entity[:, 1:2], pairs], 1)
            yield torch.where(own.unknown[..., None], self.mask, known) + self.positions[self._places(known.shape[1])]

    def _places(self, tokens: int) -> list[int]:
        """The row of ``positions`` for each token; more qualifiers than there are positions share the last ones."""
        last = 2 * self.qualifiers + 1  # the row of an attribute, which is odd; that of its value comes next
        return [min(token, last + (token + 1) % 2) for token in range(tokens)]


class DecoderLayer(nn.Module):
    """Attention between the tokens of each sequence, and a feed-forward network."""

    def __init__(self, settings: StareSettings) -> None:
        super().__init__()
        width = settings.hidden_dim
        self.heads = settings.num_heads
        self.projection = nn.Linear(width, 3 * width)  # query, key, value
        self.mixing = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, settings.ffn_dim)
        self.outer = nn.Linear(settings.ffn_dim, width)
        self.outer_norm = nn.LayerNorm(width)
        self.dropout = Dropout(settings.dropout)
        nn.init.xavier_uniform_(self.projection.weight)
        for bias in (self.projection.bias, self.mixing.bias):
            nn.init.zeros_(bias)

    def forward(self, x: Tensor, visible: Sequence[Tensor]) -> Tensor:
        """The tokens of all sequences [N, d], to the same; ``visible`` [n, T] for each arity."""
        x = self.attention_norm(x + self.dropout(self.mixing(self._attention(x, visible))))
        return self.outer_norm(x + self.dropout(self.outer(self.dropout(torch.relu(self.inner(x))))))

    def _attention(self, x: Tensor, visible: Sequence[Tensor]) -> Tensor:
        projected = self.projection(x).split_with_sizes([own.shape[0] * own.shape[1] for own in visible])
        mixed = []
        for part, own in zip(projected, visible, strict=True):
            by_head = part.view(*own.shape, 3, self.heads, -1).permute(2, 0, 3, 1, 4)  # [3, n, H, T, d / H]
            query, key, value = by_head.unbind()
            scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
            weights = scores.masked_fill(~own[:, None, None], -torch.inf).softmax(-1)
            mixed.append((self.dropout(weights) @ value).transpose(1, 2).flatten(2).flatten(0, 1))
        return torch.cat(mixed)
