"""The queries of a ranking: which elements of which facts are asked for."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nary.errors import SettingError
from nary.evaluation.protocol import Protocol
from nary.facts import FactTable, Role
from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, SUBJECT, position_at
from nary.facts.table import Ids, Rows, number_rows
from nary.models.base import Kind, Model

Candidates = npt.NDArray[np.bool_]
"""Which entities are candidates for subjects and objects [E]."""


@dataclass(frozen=True, eq=False)
class Queries:
    """Facts of one arity, ``ids`` [n, 2m+3] at places ``rows`` [n], all asked for the same column.

    Queries that differ in nothing but the answer are the same question; a model is asked each question once.
    """

    ids: Ids
    rows: Rows
    column: int

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def role(self) -> Role:
        """The role of the masked element."""
        return position_at(self.column, (self.ids.shape[1] - FIRST_ATTRIBUTE) // 2).role

    @property
    def kind(self) -> Kind:
        """What the answers are."""
        return "entity" if self.role.is_entity else "relation"

    def limit(self, candidates: Candidates | None) -> Candidates | None:
        """What of ``candidates`` holds for these queries: it is for subjects and objects alone."""
        return candidates if self.role in (Role.SUBJECT, Role.OBJECT) else None

    @cached_property
    def questions(self) -> Rows:
        """The number of the question each query asks [n]; questions are numbered from 0."""
        return number_rows([np.delete(self.ids, self.column, axis=1)])[0]


def ask(table: FactTable, roles: Collection[Role], candidates: Candidates | None = None) -> tuple[list[Queries], int]:
    """The queries that mask an element of one of ``roles``, and the number left out: their answer is no candidate."""
    asked, left_out = [], 0
    for block in table.blocks:
        for column in range(block.ids.shape[1]):
            queries = Queries(block.ids, block.rows, column)
            if queries.role not in roles:
                continue
            if (limit := queries.limit(candidates)) is not None:
                kept = np.flatnonzero(limit[block.ids[:, column]])
                left_out += len(block) - len(kept)
                queries = Queries(block.ids[kept], block.rows[kept], column)
            if len(queries):
                asked.append(queries)
    return asked, left_out


def asked_roles(model: Model, protocol: Protocol) -> frozenset[Role]:
    """The roles that the protocol asks for; an error if the model cannot predict one of them."""
    asked = frozenset(Role(name) for name in protocol.positions)
    if asked - model.roles:
        cannot, can = (", ".join(sorted(role.value for role in part)) for part in (asked - model.roles, model.roles))
        raise SettingError(
            f"{model.name} cannot predict: {cannot}", f"It predicts: {can}. Change evaluation.positions."
        )
    return asked or model.roles


def subjects_and_objects(table: FactTable, entities: int) -> Candidates:
    """Which of so many entities are subject or object of a fact."""
    found = np.zeros(entities, bool)
    for block in table.blocks:
        found[block.ids[:, SUBJECT : OBJECT + 1]] = True
    return found
