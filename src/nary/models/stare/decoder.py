"""The Transformer that turns a query into a query vector.

Shapes: B queries, n of one arity, T tokens of each, N tokens of all, q qualifiers with padding, d width, H heads.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, RELATION, SUBJECT, attribute_columns, num_columns
from nary.models.base import DatasetInfo
from nary.models.batch import Group, entities_of, relations_of
from nary.models.layers import Dropout, embed_ids
from nary.models.products import Linear

if TYPE_CHECKING:
    from nary.models.stare.model import StareSettings


@dataclass(frozen=True)
class Sequences:
    """Queries of one arity as sequences [n, T]: subject, relation, object, attribute 1, value 1, ..., padding.

    As published, a query for the object is read from the mean over all tokens but the object, which is masked out of
    the attention. A query for the subject is one for the object of the inverse relation. Every other query is read from
    its masked token.
    """

    entities: Tensor
    """The ids of subject, object and values [n, 2 + q], where q counts qualifiers and padding."""
    relations: Tensor
    """The ids of relation and attributes [n, 1 + q]."""
    unknown: Tensor
    """Which tokens are unknown [n, T]."""
    visible: Tensor
    """Which tokens can be attended to [n, T]."""
    read: Tensor
    """The weight of each token in the output [n, T]."""

    @classmethod
    def of(cls, group: Group, settings: "StareSettings", info: DatasetInfo) -> "Sequences":
        """The queries of a group."""
        m = group.qualifiers
        inverse = group.columns == SUBJECT
        columns = torch.arange(num_columns(m), device=group.ids.device)
        swapped = torch.cat([columns[:SUBJECT], columns[SUBJECT:FIRST_ATTRIBUTE].flip(0), columns[FIRST_ATTRIBUTE:]])
        order = torch.where(inverse[:, None], swapped, columns)
        ids, unknown = group.ids.gather(1, order), group.unknown.gather(1, order)

        pairs = [column for i in attribute_columns(m) for column in (i, i + m)]
        tokens = torch.tensor([SUBJECT, RELATION, OBJECT, *pairs], device=ids.device)  # the column of each
        pooled = (inverse | (group.columns == OBJECT))[:, None]
        masked = tokens == torch.where(pooled, OBJECT, group.columns[:, None])  # [n, 3 + 2m]
        present = ~(masked & pooled)

        pads = max(0, settings.padded_qualifiers - m) if settings.padding else 0
        mean = pad(present, (0, 2 * pads), value=True) / (2 + 2 * m + 2 * pads)
        relations = relations_of(ids)
        relations[:, 0] += info.num_relations * inverse
        return cls(
            entities=pad(entities_of(ids), (0, pads), value=info.num_entities),  # the row after the last entity
            relations=pad(relations, (0, pads), value=2 * info.num_relations),
            unknown=pad(unknown[:, tokens], (0, 2 * pads)),
            visible=pad(present, (0, 2 * pads)),
            read=torch.where(pooled, mean, pad(masked, (0, 2 * pads)).to(mean.dtype)),
        )


class Decoder(nn.Module):
    """Vectors of tokens and of their positions -> attention -> weighted mean of the tokens -> query vectors."""

    def __init__(self, settings: "StareSettings", qualifiers: int) -> None:
        """``qualifiers`` is the largest number of qualifiers with positions of their own."""
        super().__init__()
        self.qualifiers = max(1, qualifiers)
        std = settings.position_init_std
        self.mask = nn.Parameter(std * torch.randn(1, settings.hidden_dim))
        self.positions = nn.Parameter(std * torch.randn(3 + 2 * self.qualifiers, settings.hidden_dim))
        self.layers = nn.ModuleList(DecoderLayer(settings) for _ in range(settings.num_layers))
        self.output = Linear(settings.hidden_dim, settings.hidden_dim)

    def forward(self, groups: Sequence[Sequences], entities: Tensor, relations: Tensor) -> Tensor:
        """Queries and the vectors of all entities [E, d] and relations [2R, d] -> query vectors [B, d]."""
        x = torch.cat([part.flatten(0, 1) for part in self._embed(groups, entities, relations)])  # [N, d]
        visible = [sequences.visible for sequences in groups]
        for layer in self.layers:
            x = layer(x, visible)
        sizes = [sequences.visible.shape for sequences in groups]
        parts = x.split_with_sizes([n * length for n, length in sizes])
        read = [
            (sequences.read[:, None].to(x.dtype) @ part.view(*size, -1))[:, 0]
            for sequences, part, size in zip(groups, parts, sizes, strict=True)
        ]
        query: Tensor = self.output(torch.cat(read))
        return query

    def _embed(self, groups: Sequence[Sequences], entities: Tensor, relations: Tensor) -> Iterator[Tensor]:
        """The vectors of all tokens [n, T, d], group by group."""
        of_entities = embed_ids(entities, [sequences.entities for sequences in groups])
        of_relations = embed_ids(relations, [sequences.relations for sequences in groups])
        for sequences, entity, relation in zip(groups, of_entities, of_relations, strict=True):
            pairs = torch.stack([relation[:, 1:], entity[:, 2:]], 2).flatten(1, 2)  # [n, 2q, d]
            known = torch.cat([entity[:, :1], relation[:, :1], entity[:, 1:2], pairs], 1)
            tokens = torch.where(sequences.unknown[..., None], self.mask, known)
            yield tokens + self.positions[self._position_rows(known.shape[1])]

    def _position_rows(self, tokens: int) -> list[int]:
        """The row of ``positions`` for each token; qualifiers beyond the last with positions share its rows."""
        last = 2 * self.qualifiers + 1  # the row of an attribute, which is odd; that of its value comes next
        return [min(token, last + (token + 1) % 2) for token in range(tokens)]


class DecoderLayer(nn.Module):
    """Attention between the tokens of each sequence, and a feed-forward network."""

    def __init__(self, settings: "StareSettings") -> None:
        super().__init__()
        width = settings.hidden_dim
        self.heads = settings.num_heads
        self.projection = Linear(width, 3 * width)  # query, key, value
        self.mixing = Linear(width, width)
        self.attention_norm = nn.LayerNorm(width)
        self.inner = Linear(width, settings.ffn_dim)
        self.outer = Linear(settings.ffn_dim, width)
        self.outer_norm = nn.LayerNorm(width)
        self.dropout = Dropout(settings.dropout)
        nn.init.xavier_uniform_(self.projection.weight)
        for bias in (self.projection.bias, self.mixing.bias):
            nn.init.zeros_(bias)

    def forward(self, x: Tensor, visible: Sequence[Tensor]) -> Tensor:
        """The tokens of all sequences [N, d] -> the same shape; ``visible`` [n, T] for each group."""
        x = self.attention_norm(x + self.dropout(self.mixing(self._attention(x, visible))))
        return self.outer_norm(x + self.dropout(self.outer(self.dropout(torch.relu(self.inner(x))))))

    def _attention(self, x: Tensor, visible: Sequence[Tensor]) -> Tensor:
        projected = self.projection(x).split_with_sizes([mask.shape[0] * mask.shape[1] for mask in visible])
        mixed = []
        for part, mask in zip(projected, visible, strict=True):
            by_head = part.view(*mask.shape, 3, self.heads, -1).permute(2, 0, 3, 1, 4)  # [3, n, H, T, d / H]
            query, key, value = by_head.unbind()
            scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
            weights = scores.masked_fill(~mask[:, None, None], -torch.inf).softmax(-1)
            mixed.append((self.dropout(weights) @ value).transpose(1, 2).flatten(2).flatten(0, 1))
        return torch.cat(mixed)
