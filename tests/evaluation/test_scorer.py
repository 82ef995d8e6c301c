"""The scorer: chunks change nothing, each distinct query is scored once, results are on the CPU."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from evaluation.toys import Constant, Scattered, random_facts, vocabulary_of
from torch import Tensor

from nary.evaluation.queries import EncodedQuery, encode_query, make_batch, mask_table
from nary.evaluation.scorer import QueryScorer
from nary.facts import FactTable, Role
from nary.models.base import Kind
from nary.models.batch import Batch

FACTS = random_facts(40, seed=5)
VOCABULARY = vocabulary_of(FACTS)
QUERIES = [encode_query(fact, position, VOCABULARY) for fact in FACTS for position in fact.elements()]


class Recording(Scattered):
    """Records the size of each batch and what it asks."""

    def __init__(self) -> None:
        super().__init__(VOCABULARY)
        self.asked: dict[str, list[int]] = {"entity": [], "relation": []}

    def score(self, batch: Batch, kind: Kind) -> Tensor:
        self.asked[kind].append(len(batch))
        return super().score(batch, kind)


def rows_of(scorer: QueryScorer, queries: list[EncodedQuery]) -> dict[int, list[float]]:
    """The scores for each query."""
    rows = {}
    for part in scorer.score(queries):
        assert part.scores.device.type == "cpu"
        assert all(queries[place].kind == part.kind for place in part.places)
        rows.update({place: part.scores[row].tolist() for place, row in zip(part.places, part.rows, strict=True)})
    assert sorted(rows) == list(range(len(queries)))
    return rows


@pytest.mark.parametrize("memory", [1, 500, 1 << 27])
def test_each_query_gets_its_scores_whatever_the_chunks(memory: int) -> None:
    model = Scattered(VOCABULARY)
    rows = rows_of(QueryScorer(model, memory), QUERIES)
    for place, query in enumerate(QUERIES):
        assert rows[place] == model.score(make_batch([query]), query.kind)[0].tolist()


def test_queries_that_differ_only_in_their_answer_are_scored_once() -> None:
    model = Recording()
    rows_of(QueryScorer(model), QUERIES * 2)
    distinct = {(query.fill(-1), query.column) for query in QUERIES}
    assert sum(map(sum, model.asked.values())) == len(distinct) < len(QUERIES)
    assert list(QueryScorer(model).score([])) == []
    partial = [replace(query, partial=True) for query in QUERIES]  # which are queries of their own
    model = Recording()
    rows_of(QueryScorer(model), QUERIES + partial)
    assert sum(map(sum, model.asked.values())) == 2 * len(distinct)


def test_chunks_fill_the_memory_that_is_given() -> None:
    model = Recording()
    sizes: dict[Kind, int] = {"entity": len(VOCABULARY.entities), "relation": len(VOCABULARY.relations)}
    memory = 2 * 4 * 5 * sizes["entity"]  # two chunks of five rows
    rows_of(QueryScorer(model, memory, num_candidates=sizes), QUERIES)
    assert set(model.asked["entity"][:-1]) == {5}
    model = Recording()
    rows_of(QueryScorer(model, memory), QUERIES)  # which learns the number of candidates from the first chunk
    assert (model.asked["entity"][0], set(model.asked["entity"][1:-1])) == (8, {5})
    model = Recording()
    rows_of(QueryScorer(model, max_chunk=3, num_candidates=sizes), QUERIES)
    assert max(model.asked["entity"]) == 3


def test_blocks_give_the_same_scores_as_single_queries() -> None:
    scorer, table = QueryScorer(Scattered(VOCABULARY), memory=500), FactTable.from_facts(FACTS, VOCABULARY)
    for masked in mask_table(table, frozenset(Role))[0]:
        rows = rows_of(scorer, [EncodedQuery(tuple(ids), masked.column) for ids in masked.ids.tolist()])
        seen = []
        for part in scorer.score_block(masked):
            seen += part.places.tolist()
            assert (np.diff(part.rows) >= 0).all()
            for row, place in enumerate(part.distinct.tolist()):
                assert part.scores[row].tolist() == rows[place]
            for place, row in zip(part.places.tolist(), part.rows.tolist(), strict=True):
                assert part.scores[row].tolist() == rows[place]
        assert sorted(seen) == list(range(len(masked)))


def test_the_device_is_that_of_the_model() -> None:
    assert QueryScorer(Constant([1], [1])).device == torch.device("cpu")  # it has no tensors
    scorer = QueryScorer(Scattered(VOCABULARY))
    rows = rows_of(scorer, QUERIES)
    scorer.model.to("cpu")
    assert rows_of(scorer, QUERIES) == rows
    scorer.model.to("meta")
    assert scorer.device.type == "meta"  # which follows a model that is moved


def test_every_batch_goes_to_the_device_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors are made on the CPU, moved with ``to`` and come back with ``cpu``."""
    moved, back = [], []
    to, cpu = Batch.to, Tensor.cpu
    monkeypatch.setattr(Batch, "to", lambda self, device: moved.append(device) or to(self, device))
    monkeypatch.setattr(Tensor, "cpu", lambda self: back.append(self.shape) or cpu(self))
    model = Recording()
    scorer = QueryScorer(model)
    rows_of(scorer, QUERIES)
    for masked in mask_table(FactTable.from_facts(FACTS, VOCABULARY), frozenset(Role))[0]:
        list(scorer.score_block(masked))
    calls = sum(map(len, model.asked.values()))
    assert len(moved) == len(back) == calls
    assert {device.type for device in moved} == {"cpu"}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_scores_of_any_precision_become_one_that_numpy_has(dtype: torch.dtype) -> None:
    scorer = QueryScorer(Constant([1, 2, 3], [0, 1], dtype))
    (part,) = scorer.score([EncodedQuery((0, 1, 2), 1)])
    assert part.scores.dtype == torch.promote_types(dtype, torch.float32)
    assert part.scores.numpy().tolist() == [[1, 2, 3]]
