"""Questions as sequences for the Transformer."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, RELATION, SUBJECT
from nary.models.batch import Group
from nary.models.contract import Sizes
from nary.models.stare.settings import StareSettings


@dataclass(frozen=True)
class Sequences:
    """Questions of one arity as sequences [n, T]: subject, relation, object, attribute 1, value 1, ..., padding.

    A question for the object is answered, as published, from the mean over all tokens but the object, which is absent:
    nobody looks at it. A question for the subject is one for the object of the inverse relation. Every other question
    is answered from the token of what it asks for.
    """

    entities: Tensor
    """The ids of subject, object and values [n, 2 + q], where q counts qualifiers and padding."""
    relations: Tensor
    """The ids of relation and attributes [n, 1 + q]."""
    unknown: Tensor
    """Which tokens are not known [n, T]."""
    visible: Tensor
    """Which tokens are looked at [n, T]."""
    read: Tensor
    """How much of the answer is read from each token [n, T]."""

    @classmethod
    def of(cls, group: Group, settings: StareSettings, sizes: Sizes) -> "Sequences":
        """The questions of a group."""
        m = group.qualifiers
        first_value = FIRST_ATTRIBUTE + m
        missing = torch.zeros_like(group.ids, dtype=torch.bool).scatter(1, group.columns[:, None], True)
        if group.hidden is not None:
            missing = missing | group.hidden
        inverse = group.columns == SUBJECT
        columns = torch.arange(first_value + m, device=group.ids.device)
        exchanged = torch.cat([columns[:1], columns[1:3].flip(0), columns[3:]])  # subject and object
        order = torch.where(inverse[:, None], exchanged, columns)
        ids, missing = group.ids.gather(1, order), missing.gather(1, order)
        relation = ids[:, :1] + sizes.relations * inverse[:, None]

        pairs = [column for i in range(FIRST_ATTRIBUTE, first_value) for column in (i, i + m)]
        tokens = torch.tensor([SUBJECT, RELATION, OBJECT, *pairs], device=ids.device)  # the column of each
        pooled = (inverse | (group.columns == OBJECT))[:, None]
        asked = tokens == torch.where(pooled, OBJECT, group.columns[:, None])  # [n, 3 + 2m]
        present = ~(asked & pooled)

        pads = max(0, settings.padded_qualifiers - m) if settings.padding else 0
        mean = pad(present, (0, 2 * pads), value=True) / (2 + 2 * m + 2 * pads)
        entities = torch.cat([ids[:, SUBJECT : OBJECT + 1], ids[:, first_value:]], 1)
        relations = torch.cat([relation, ids[:, FIRST_ATTRIBUTE:first_value]], 1)
        return cls(
            entities=pad(entities, (0, pads), value=sizes.entities),  # the rows after the last of each
            relations=pad(relations, (0, pads), value=2 * sizes.relations),
            unknown=pad(missing[:, tokens], (0, 2 * pads)),
            visible=pad(present, (0, 2 * pads)),
            read=torch.where(pooled, mean, pad(asked, (0, 2 * pads)).to(mean.dtype)),
        )
