"""Nearest neighbors by cosine similarity: of entity and relation vectors, and of query vectors of training facts.

Encoding a query for every training fact would take minutes with a model of the published size. So only the facts that
share most elements with the query are compared.
"""

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import torch
from torch import Tensor

from nary.errors import SettingError
from nary.evaluation.queries import EncodedQuery
from nary.evaluation.scorer import SLICE, QueryScorer
from nary.facts import Block
from nary.facts.layout import FIRST_ATTRIBUTE, attribute_columns, partner_column, position_at, value_columns
from nary.facts.table import Rows, decode_fact
from nary.inference.context import Context
from nary.inference.explanation_results import SupportingFact
from nary.inference.prediction import check_count
from nary.inference.results import Neighbor, Neighbors
from nary.models.base import Kind, Model
from nary.models.blend.model import parts_of

_COMPARED = 2000
_SHOWN = 10


def similar(context: Context, text: str, kind: Kind | None, k: int) -> Neighbors:
    """The ``k`` names nearest to the one that ``text`` means, by the cosine of their vectors."""
    check_count(k)
    kind, i = context.names.find(text, kind)
    vectors = _vectors(context.model, kind)
    if vectors is None:
        raise SettingError(f"{context.model.name} has no embeddings to compare", "Use a model that has, such as gran.")
    cosines = [torch.nn.functional.cosine_similarity(part, vectors[i], dim=-1) for part in torch.split(vectors, SLICE)]
    similarities = torch.cat(cosines)  # in parts, because each makes copies of its vectors
    similarities[i] = -torch.inf
    best = similarities.topk(min(k, len(vectors) - 1))
    names, label = context.candidates(kind), context.vocabulary.label
    neighbors = [
        Neighbor(names[other], label(names[other]), similarity)
        for other, similarity in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]
    return Neighbors(names[i], label(names[i]), kind, neighbors)


def supporting_facts(context: Context, query: EncodedQuery) -> tuple[list[SupportingFact], list[str]]:
    """The training facts that answer the most similar queries for the same role, nearest first; and notes."""
    related, total = _related_queries(context, query)
    vectors = _query_vectors(context.model, [query, *related])
    if vectors is None:
        return [], [f"{context.model.name} has no query embeddings, so similar facts are not shown"]
    similarities = torch.nn.functional.cosine_similarity(vectors[:1], vectors[1:], dim=-1)
    best = similarities.topk(min(_SHOWN, len(related)))
    names = context.candidates(query.kind)
    facts = []
    for i, similarity in zip(best.indices.tolist(), best.values.tolist(), strict=True):
        fact = decode_fact(related[i].ids, context.vocabulary)
        answer = context.vocabulary.label(names[related[i].answer])
        facts.append(SupportingFact(str(fact), context.names.labeled(fact), answer, similarity))
    note = f"similar facts are among the {_COMPARED:,} of {total:,} facts with the most elements in common"
    return facts, [note] if total > _COMPARED else []


def _vectors(model: Model, kind: Kind) -> Tensor | None:
    """The vectors of all candidates [C, d], of a model or of the first part of a blend that has some."""
    for one in (model, *parts_of(model)):
        with suppress(NotImplementedError), torch.inference_mode():
            return one.candidates(kind)[0].float().cpu()
    return None


def _query_vectors(model: Model, queries: Sequence[EncodedQuery]) -> Tensor | None:
    """The vectors of queries for one role [n, d], of a model or of the first part of a blend that has some."""
    for one in (model, *parts_of(model)):
        if queries[0].position.role in one.roles:
            with suppress(NotImplementedError):
                return QueryScorer(one).encode(queries)
    return None


def _related_queries(context: Context, query: EncodedQuery) -> tuple[list[EncodedQuery], int]:
    """Queries for the same role made of training facts, most shared elements first, and how many share any."""
    blocks = context.dataset.train.blocks
    parts = [np.empty((4, 0), np.int64)]
    for number, block in enumerate(blocks):
        for column in range(block.ids.shape[1]):
            if position_at(column, block.qualifiers).role is query.position.role:
                shared = _count_shared(block, column, query)
                rows = np.flatnonzero(shared)
                parts.append(np.stack(np.broadcast_arrays(shared[rows], number, rows, column)))
    sharing = np.concatenate(parts, axis=1)
    best = np.argsort(-sharing[0], kind="stable")[:_COMPARED]
    related = [
        EncodedQuery(tuple(blocks[number].ids[row].tolist()), column, partial=query.partial)
        for _, number, row, column in sharing[:, best].T.tolist()
    ]
    return related, sharing.shape[1]


def _count_shared(block: Block, column: int, query: EncodedQuery) -> Rows:
    """How many elements of the query each fact of the block has besides ``column`` [n]; 0 for the fact itself."""
    shared = np.zeros(len(block), np.int64)
    for place in range(FIRST_ATTRIBUTE):
        if place != query.column:
            shared += block.ids[:, place] == query.ids[place]
    partner, query_partner = (
        partner_column(column, block.qualifiers),
        partner_column(query.column, query.num_qualifiers),
    )
    if partner is not None and query_partner is not None:
        shared += block.ids[:, partner] == query.ids[query_partner]
    for columns_of in (attribute_columns, value_columns):
        others = [place for place in columns_of(block.qualifiers) if place not in (column, partner)]
        for place in columns_of(query.num_qualifiers):
            if place not in (query.column, query_partner):
                shared += (block.ids[:, others] == query.ids[place]).any(axis=1)
    if block.qualifiers == query.num_qualifiers:
        shared[(block.ids == np.array(query.ids)).all(axis=1)] = 0
    return shared
