"""The approximate index of entities: the same answers where it considers all, and most of them where it does not."""

import sys

import numpy as np
import pytest
import torch
from runs.small import small_data, small_run

from nary.errors import MissingExtraError, SettingError
from nary.evaluation.scorer import ScoreError
from nary.facts import GAP, Query
from nary.inference import entity_index
from nary.inference.best import Best, BestCandidates, Wanted
from nary.inference.entity_index import EntityIndex
from nary.models.base import DatasetInfo
from nary.models.gran import Gran, GranSettings
from nary.runs import TrainedModel

pytest.importorskip("faiss")


@pytest.fixture(scope="module")
def gran(tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    return small_run(tmp_path_factory.mktemp("gran") / "run", training__epochs=1)


def test_a_small_table_gets_its_exact_answers_and_says_that_they_may_not_be(
    gran: TrainedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entity_index, "_FEWEST", 16)
    names, relation = gran.vocabulary.entities, gran.vocabulary.relations[0]
    queries = [*(Query(name, relation, GAP) for name in names[:5]), Query(names[0], GAP, names[1])]
    for known in ("first", "mark", "hide", "only"):
        gran.predictor.context.index = None
        exact = gran.predict_many(queries, 5, known)
        assert not any(one.approximate for one in exact)
        gran.use_index()
        for one, other in zip(gran.predict_many(queries, 5, known), exact, strict=True):
            assert one.approximate == (one.position == "object") == one.as_dict()["approximate"]
            assert one.approximate == any("approximate index" in note for note in one.notes)
            assert [answer.name for answer in one.answers] == [answer.name for answer in other.answers]
            for left, right in zip(one.answers, other.answers, strict=True):
                assert left.score == pytest.approx(right.score, abs=1e-5)
                assert left.probability == pytest.approx(right.probability, rel=1e-4)
    gran.predictor.context.index = None


def exact_best(model: Gran, query: torch.Tensor, wanted: Wanted) -> Best:
    vectors, bias = model.candidates("entity")
    best = BestCandidates([wanted], [0], 2.0)
    best.add(torch.addmv(bias, vectors, query)[None].detach())
    return best.results()[0]


@pytest.mark.parametrize("width", [15, 16])
def test_of_many_entities_nearly_all_of_the_best_are_found(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("_CONSIDERED", 200), ("_SAMPLE", 1000), ("_TRAINED", 2000)):
        monkeypatch.setattr(entity_index, name, size)
    torch.manual_seed(0)
    model = Gran(GranSettings(num_layers=1, hidden_dim=width, ffn_dim=width, num_heads=1), info_of(5000))
    with torch.no_grad():
        model.entity_embedding.normal_()
        model.output_bias.normal_()
    index = EntityIndex(model)
    shared = 0
    for query in torch.randn(20, width):
        exact = exact_best(model, query, Wanted(10))
        left_out = exact.ids[:2].sort().values.numpy()
        wanted = Wanted(10, left_out, scored=np.array([3, 4999]))
        (one,), other = index.best(query[None], [wanted], 2.0), exact_best(model, query, wanted)
        assert not set(one.ids.tolist()) & set(left_out.tolist())
        assert one.scores.tolist() == sorted(one.scores.tolist(), reverse=True)
        torch.testing.assert_close(one.scored[1], other.scored[1])
        assert one.log_total == pytest.approx(other.log_total, abs=0.2)  # a thousand of the others are a sample
        shared += len(set(one.ids.tolist()) & set(other.ids.tolist()))
    assert shared >= 190  # of 200


def info_of(entities: int) -> DatasetInfo:
    info = DatasetInfo.from_dataset(small_data())
    return DatasetInfo(entities, info.num_relations, info.max_arity, info.facts)


def test_scores_that_are_no_numbers_are_refused() -> None:
    index = EntityIndex(Gran(GranSettings(num_layers=1, hidden_dim=8, ffn_dim=8, num_heads=1), info_of(1000)))
    with pytest.raises(ScoreError, match="NaN"):
        index.best(torch.full((1, 8), torch.nan), [Wanted(3)], 1.0)


def test_what_has_no_index(gran: TrainedModel, tmp_path_factory: pytest.TempPathFactory) -> None:
    rules = small_run(tmp_path_factory.mktemp("frequency") / "run", "frequency")
    with pytest.raises(SettingError, match="frequency scores without query vectors"):
        rules.use_index()
    with pytest.raises(SettingError, match="entities are too few for an index"):
        gran.use_index()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "faiss", None)
        with pytest.raises(MissingExtraError, match="index of entities") as caught:
            gran.use_index()
    assert "nary[faiss]" in str(caught.value.hint)
