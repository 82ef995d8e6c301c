"""Facts the model learned from that pose a similar question: their query vectors point the same way.

Vectors of all facts in train would take minutes to compute with a model of the published size. So only the facts that
share most elements with the question are compared.
"""

import numpy as np
import torch

from nary.facts import Block
from nary.facts.layout import FIRST_ATTRIBUTE, partner_column, position_at
from nary.facts.table import Rows
from nary.inference.asking import Asker
from nary.inference.questions import Question
from nary.inference.results import SupportingFact

_COMPARED = 2000
_SHOWN = 10


def supporting_facts(asker: Asker, question: Question) -> tuple[list[SupportingFact], list[str]]:
    """The facts in train that pose the most similar questions for the same role, nearest first; and notes."""
    alike, total = _alike(asker, question)
    try:
        vectors = asker.vectors([question, *alike])
    except NotImplementedError:
        return [], [f"{asker.model.name} has no query vectors, by which similar facts could be found"]
    similarities = torch.nn.functional.cosine_similarity(vectors[:1], vectors[1:], dim=-1)
    best = similarities.topk(min(_SHOWN, len(alike)))
    names = asker.candidates(question.kind)
    found = []
    for i, similarity in zip(best.indices.tolist(), best.values.tolist(), strict=True):
        fact = asker.fact(alike[i].ids)
        answer = asker.vocabulary.label(names[alike[i].answer])
        found.append(SupportingFact(str(fact), asker.names.labeled(fact), answer, similarity))
    note = f"similar facts were looked for among the {_COMPARED:,} (of {total:,}) that share most with this one"
    return found, [note] if total > _COMPARED else []


def _alike(asker: Asker, question: Question) -> tuple[list[Question], int]:
    """Questions for the same role that facts in train pose, those that share most first, and how many share any."""
    blocks = asker.dataset.train.blocks
    parts = [np.empty((4, 0), np.int64)]
    for number, block in enumerate(blocks):
        for column in range(block.ids.shape[1]):
            if position_at(column, block.qualifiers).role is question.position.role:
                shared = _shared(block, column, question)
                rows = np.flatnonzero(shared)
                parts.append(np.stack(np.broadcast_arrays(shared[rows], number, rows, column)))
    found = np.concatenate(parts, axis=1)
    best = np.argsort(-found[0], kind="stable")[:_COMPARED]
    chosen = [
        Question(tuple(blocks[number].ids[row].tolist()), column)
        for _, number, row, column in found[:, best].T.tolist()
    ]
    return chosen, found.shape[1]


def _shared(block: Block, column: int, question: Question) -> Rows:
    """How many of the elements a question is about each fact of the block has, asked for ``column`` [n].

    A fact that is the question's own has none.
    """
    shared = np.zeros(len(block), np.int64)
    for place in range(FIRST_ATTRIBUTE):
        if place != question.column:
            shared += block.ids[:, place] == question.ids[place]
    masked, asked = partner_column(column, block.qualifiers), partner_column(question.column, question.qualifiers)
    if masked is not None and asked is not None:
        shared += block.ids[:, masked] == question.ids[asked]
    for start in (0, 1):  # attributes, then values
        own = _qualifier_columns(start, question.qualifiers, (question.column, asked))
        others = _qualifier_columns(start, block.qualifiers, (column, masked))
        for place in own:
            shared += (block.ids[:, others] == question.ids[place]).any(axis=1)
    if block.qualifiers == question.qualifiers:
        shared[(block.ids == np.array(question.ids)).all(axis=1)] = 0
    return shared


def _qualifier_columns(part: int, qualifiers: int, without: tuple[int, int | None]) -> list[int]:
    """The columns of the attributes (part 0) or values (part 1), but for those of one qualifier."""
    first = FIRST_ATTRIBUTE + part * qualifiers
    return [column for column in range(first, first + qualifiers) if column not in without]
