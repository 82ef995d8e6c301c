"""Encoded queries: id rows in which one element is masked, one at a time or a block of facts at once."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from nary.errors import FactError, SettingError
from nary.evaluation.protocol import Protocol
from nary.facts import GAP, Block, Fact, FactTable, Position, Query, Role, Vocabulary, layout
from nary.facts.layout import OBJECT, SUBJECT
from nary.facts.table import Ids, Rows, number_rows
from nary.models.base import Kind, Model
from nary.models.batch import Batch, Group

Candidates = npt.NDArray[np.bool_]
"""Which entities are candidates for subjects and objects [E]."""


@dataclass(frozen=True)
class EncodedQuery:
    """The ids of a fact [2m+3], its masked column, and further columns that are hidden: neither known nor asked for.

    A ``partial`` query is about a fact that may have further qualifiers.
    """

    ids: tuple[int, ...]
    column: int
    hidden: frozenset[int] = frozenset()
    partial: bool = False

    @property
    def num_qualifiers(self) -> int:
        """The number of qualifiers, ``m``."""
        return layout.num_qualifiers(len(self.ids))

    @property
    def position(self) -> Position:
        """The masked position."""
        return layout.position_at(self.column, self.num_qualifiers)

    @property
    def kind(self) -> Kind:
        """The kind of the candidates."""
        return "entity" if layout.is_entity_column(self.column, self.num_qualifiers) else "relation"

    @property
    def answer(self) -> int:
        """The id in the masked column; 0 if it was a gap."""
        return self.ids[self.column]

    def fill(self, id: int) -> tuple[int, ...]:
        """The ids with ``id`` in the masked column."""
        return (*self.ids[: self.column], id, *self.ids[self.column + 1 :])

    def hide(self, column: int) -> "EncodedQuery":
        """The same query with one more hidden column."""
        return replace(self, hidden=self.hidden | {column})

    def drop_qualifier(self, attribute: int) -> "EncodedQuery":
        """The same query without the qualifier whose attribute is in that column; the masked column must stay."""
        dropped = (attribute, layout.partner_column(attribute, self.num_qualifiers))
        kept = [column for column in range(len(self.ids)) if column not in dropped]
        hidden = frozenset(kept.index(column) for column in self.hidden if column in kept)
        ids = tuple(self.ids[column] for column in kept)
        return EncodedQuery(ids, kept.index(self.column), hidden, self.partial)


def encode_query(statement: Fact | Query, position: Position, vocabulary: Vocabulary) -> EncodedQuery:
    """Encode the query for the element at ``position``; other gaps are hidden.

    Names must be those of the vocabulary.
    """
    elements = statement.elements()
    if position not in elements:
        raise FactError(f"{statement} has no {position}", f"It has: {', '.join(map(str, elements))}")
    ids = (
        0 if element is GAP else (vocabulary.entity if at.role.is_entity else vocabulary.relation)(str(element))
        for at, element in elements.items()
    )
    column = layout.column_of(position, len(statement.qualifiers))
    gaps = frozenset(place for place, element in enumerate(elements.values()) if element is GAP)
    return EncodedQuery(tuple(ids), column, gaps - {column})


def make_batch(queries: Sequence[EncodedQuery]) -> Batch:
    """Queries as tensors; queries of the same arity must be next to each other."""
    groups = []
    for _, same_arity in groupby(queries, key=lambda query: len(query.ids)):
        members = list(same_arity)
        ids = torch.tensor([query.ids for query in members])
        hidden = None
        if any(query.hidden for query in members):
            hidden = torch.zeros(ids.shape, dtype=torch.bool)
            for row, query in enumerate(members):
                hidden[row, list(query.hidden)] = True
        columns, partial = (torch.tensor([getattr(query, name) for query in members]) for name in ("column", "partial"))
        groups.append(Group(ids, columns, hidden, partial if partial.any() else None))
    return Batch(groups)


class Shortened(NamedTuple):
    """At most how many further qualifiers queries give, and the arity and masked column of the whole facts."""

    given: int
    arity: int
    column: int


@dataclass(frozen=True, eq=False)
class MaskedBlock:
    """A query for every fact of a block: all with the same column masked.

    If the facts are not whole but ``shortened``, they may have further qualifiers.
    """

    block: Block
    column: int
    shortened: Shortened | None = None

    def __len__(self) -> int:
        return len(self.block)

    @property
    def ids(self) -> Ids:
        """The ids of the facts [n, 2m+3], answers included."""
        return self.block.ids

    @property
    def answers(self) -> Rows:
        """The masked ids [n]."""
        return self.ids[:, self.column].astype(np.int64)

    @property
    def role(self) -> Role:
        """The role of the masked element."""
        return layout.position_at(self.column, self.block.qualifiers).role

    @property
    def kind(self) -> Kind:
        """The kind of the candidates."""
        return "entity" if self.role.is_entity else "relation"

    def restrict(self, candidates: Candidates | None) -> Candidates | None:
        """``candidates`` if they apply to these queries: they are for subjects and objects only."""
        return candidates if self.role in (Role.SUBJECT, Role.OBJECT) else None

    def number_queries(self) -> Rows:
        """A number for each query [n], from 0; queries that differ only in their answer get the same number."""
        return number_rows([np.delete(self.ids, self.column, axis=1)])[0]


def mask_table(
    table: FactTable, roles: Collection[Role], candidates: Candidates | None = None
) -> tuple[list[MaskedBlock], int]:
    """Mask every element of one of ``roles``; also return how many queries are left out.

    A query is left out if its answer is not among ``candidates``.
    """
    masked_blocks, left_out = [], 0
    for block in table.blocks:
        for column in range(block.ids.shape[1]):
            masked = MaskedBlock(block, column)
            if masked.role not in roles:
                continue
            if (allowed := masked.restrict(candidates)) is not None:
                kept = np.flatnonzero(allowed[block.ids[:, column]])
                left_out += len(block) - len(kept)
                masked = MaskedBlock(Block(block.ids[kept], block.rows[kept]), column)
            if len(masked):
                masked_blocks.append(masked)
    return masked_blocks, left_out


def evaluated_roles(model: Model, protocol: Protocol) -> frozenset[Role]:
    """The roles that the protocol asks for; an error if the model cannot predict one of them."""
    wanted = frozenset(Role(name) for name in protocol.positions)
    if wanted - model.roles:
        cannot, can = (", ".join(sorted(role.value for role in part)) for part in (wanted - model.roles, model.roles))
        raise SettingError(
            f"{model.name} cannot predict: {cannot}", f"It predicts: {can}. Change evaluation.positions."
        )
    return wanted or model.roles


def subjects_and_objects(table: FactTable, num_entities: int) -> Candidates:
    """Which entities are the subject or object of a fact."""
    candidates = np.zeros(num_entities, bool)
    for block in table.blocks:
        candidates[block.ids[:, [SUBJECT, OBJECT]]] = True
    return candidates
