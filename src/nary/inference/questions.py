"""Questions to a model: facts as ids, with one element asked for and perhaps others hidden."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import torch

from nary.facts import Position
from nary.facts.layout import FIRST_ATTRIBUTE, position_at
from nary.models.base import Kind
from nary.models.batch import Batch, Group


@dataclass(frozen=True)
class Question:
    """The ids of a fact [2m+3], the column asked for, and further columns that are not known either."""

    ids: tuple[int, ...]
    column: int
    hidden: frozenset[int] = frozenset()

    @property
    def qualifiers(self) -> int:
        """The number of qualifiers, ``m``."""
        return (len(self.ids) - FIRST_ATTRIBUTE) // 2

    @property
    def position(self) -> Position:
        """The position asked for."""
        return position_at(self.column, self.qualifiers)

    @property
    def kind(self) -> Kind:
        """What the answers are."""
        return "entity" if self.position.role.is_entity else "relation"

    @property
    def answer(self) -> int:
        """The id in the column asked for; 0 if it is a gap."""
        return self.ids[self.column]

    def hiding(self, column: int) -> "Question":
        """The same question without the element at ``column``."""
        return Question(self.ids, self.column, self.hidden | {column})

    def leaving_out(self, attribute: int) -> "Question":
        """The same question without the qualifier whose attribute is in that column; it is not asked for."""
        left_out = (attribute, attribute + self.qualifiers)
        kept = [column for column in range(len(self.ids)) if column not in left_out]
        hidden = frozenset(kept.index(column) for column in self.hidden if column in kept)
        return Question(tuple(self.ids[column] for column in kept), kept.index(self.column), hidden)


def batch_of(questions: Sequence[Question]) -> Batch:
    """Questions as a batch; those of one arity must stand side by side."""
    groups = []
    for _, own in groupby(questions, key=lambda question: len(question.ids)):
        group = list(own)
        ids = torch.tensor([question.ids for question in group])
        hidden = None
        if any(question.hidden for question in group):
            hidden = torch.zeros(ids.shape, dtype=torch.bool)
            for row, question in enumerate(group):
                hidden[row, list(question.hidden)] = True
        groups.append(Group(ids, torch.tensor([question.column for question in group]), hidden))
    return Batch(groups)
