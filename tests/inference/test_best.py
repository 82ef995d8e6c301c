"""The best candidates: by hand, like sorting all of them, and the same whatever the slices."""

import math
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from runs.small import small_run
from torch import Tensor

from nary.facts import GAP, Query
from nary.inference.best import BestCandidates, Wanted, highest
from nary.runs import TrainedModel

_SCORES = st.lists(st.sampled_from([-math.inf, -1.0, 0.0, 0.5, 2.0]), min_size=1, max_size=30)


def test_by_hand() -> None:
    wanted = Wanted(2, left_out=np.array([1, 4]), scored=np.array([0, 4]))
    best = BestCandidates([wanted], [1], temperature=2.0)
    for scores in ([7.0, 5.0], [1.0, 3.0], [4.0, 3.0]):
        best.add(torch.tensor([[9.0] * len(scores), scores]))
    (result,) = best.results()
    assert result.ids.tolist() == [0, 3]  # candidate 5 has the score of 3 and comes later
    assert result.scores.tolist() == [7.0, 3.0]
    assert result.scores_of(np.array([4, 0])).tolist() == [4.0, 7.0]
    total = sum(math.exp(score / 2) for score in (7, 5, 1, 3, 4, 3))
    assert result.log_probabilities(result.scores).exp().tolist() == pytest.approx(
        [math.exp(3.5) / total, math.exp(1.5) / total]
    )


@given(_SCORES, st.integers(0, 12), st.integers(1, 12), st.randoms(use_true_random=False))
def test_slices_give_what_sorting_all_gives(scores: list[float], k: int, size: int, random: Random) -> None:
    numbers = range(len(scores))
    left_out, scored = (np.array([i for i in numbers if random.random() < 0.4], np.int64) for _ in range(2))
    best = BestCandidates([Wanted(k, left_out, scored)], [0], temperature=1.5)
    for start in range(0, len(scores), size):
        best.add(torch.tensor([scores[start : start + size]]))
    (result,) = best.results()
    in_order = sorted(set(numbers) - set(left_out.tolist()), key=lambda i: (-scores[i], i))[:k]
    assert result.ids.tolist() == in_order
    assert result.scores.tolist() == [scores[i] for i in in_order]
    assert result.scores_of(scored).tolist() == [scores[i] for i in scored.tolist()]
    expected = float((torch.tensor(scores) / 1.5).logsumexp(0))
    assert result.log_total == pytest.approx(expected, rel=1e-5, abs=1e-6)


@given(_SCORES, st.integers(1, 40))
def test_equal_scores_are_in_their_order(scores: list[float], k: int) -> None:
    assert highest(torch.tensor(scores), k).tolist() == sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:k]


@pytest.fixture(scope="module")
def gran(tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    return small_run(tmp_path_factory.mktemp("gran") / "run", training__epochs=1)


def test_a_model_answers_the_same_whatever_the_slices(gran: TrainedModel) -> None:
    facts = list(gran.dataset.facts.facts(gran.vocabulary))[:4]
    queries = [fact.query(position) for fact in facts for position in fact.elements()]
    scorer = gran.predictor.context.scorer
    for known in ("first", "mark", "hide", "only"):
        expected = gran.predict_many(queries, 5, known)
        for scorer.slice_size in (1, 7):
            for one, other in zip(gran.predict_many(queries, 5, known), expected, strict=True):
                assert [answer.name for answer in one.answers] == [answer.name for answer in other.answers]
                for left, right in zip(one.answers, other.answers, strict=True):
                    assert (left.known, left.stored) == (right.known, right.stored)
                    assert left.score == pytest.approx(right.score, abs=1e-5)
                    assert left.probability == pytest.approx(right.probability, rel=1e-4)
        scorer.slice_size = 1 << 16


def test_a_chunk_of_queries_reads_a_large_table_once(gran: TrainedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    model, context = type(gran.module), gran.predictor.context
    sizes: list[tuple[int, ...]] = []
    score_slices = model.score_slices

    def recorded(*arguments: Any) -> Iterator[Tensor]:
        for scores in score_slices(*arguments):
            sizes.append(tuple(scores.shape))
            yield scores

    monkeypatch.setattr(model, "score_slices", recorded)
    monkeypatch.setattr(context.scorer, "slice_size", 8)
    relation = gran.vocabulary.relations[0]
    gran.predict_many([Query(name, relation, GAP) for name in gran.vocabulary.entities[:6]], 3)
    total = len(gran.vocabulary.entities)
    assert sizes == [(6, min(8, total - start)) for start in range(0, total, 8)]
