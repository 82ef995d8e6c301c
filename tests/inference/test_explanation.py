"""Explanations: contributions by hand and by definition, similar facts, attention."""

import numpy as np
import pytest
import torch
from inference.memory import remembering
from runs.small import dataset_of, small_data, small_run

from nary.errors import FactError
from nary.evaluation.queries import make_batch
from nary.facts import Fact, Position, Query, Role
from nary.facts.graph import edge_matrix
from nary.inference import neighbors
from nary.inference.predictor import Predictor
from nary.models.base import DatasetInfo
from nary.models.frequency import Frequency, FrequencySettings
from nary.runs import TrainedModel

OBJECT = Position(Role.OBJECT)
TRAIN = [
    Fact("Ada", "likes", "Ben", [("since", "1900")]),
    Fact("Ada", "likes", "Cy", [("since", "1910")]),
    Fact("Dee", "likes", "Ben", [("since", "1900")]),
    Fact("Ada", "likes", "Ben"),
]
DATA = dataset_of(train=TRAIN)


@pytest.fixture(scope="module")
def gran(tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    return small_run(tmp_path_factory.mktemp("gran") / "run", dataset=small_data(200), model__num_layers=2)


@pytest.fixture(scope="module")
def fact(gran: TrainedModel) -> Fact:
    return next(fact for fact in gran.dataset.test.facts(gran.dataset.vocabulary) if len(fact.qualifiers) == 2)


def test_contributions_by_hand() -> None:
    found = remembering(DATA).explain(TRAIN[1], OBJECT)
    assert (found.answer, found.position, found.rank) == ("Cy", "object", 1)
    assert found.probability == pytest.approx(1)
    without = {one.position: one.probability_without for one in found.contributions}
    # subject or relation hidden: 1910 still tells; without the qualifier: the one fact of arity 2 says Ben
    assert without == pytest.approx({"subject": 1, "relation": 1, "qualifier 1": 0}, abs=1e-6)
    assert found.contributions[0].position == "qualifier 1"
    assert found.contributions[0].name == "since: 1910"
    for one in found.contributions:
        assert one.contribution == pytest.approx(found.score - one.score_without)


def test_the_partner_of_the_answer_is_hidden_not_left_out() -> None:
    found = remembering(DATA).explain(TRAIN[0], Position(Role.VALUE, 1))
    assert {one.position for one in found.contributions} == {"relation", "subject", "object", "attribute 1"}
    found = remembering(DATA).explain(TRAIN[0], Position(Role.ATTRIBUTE, 1))
    assert {one.position for one in found.contributions} == {"relation", "subject", "object", "value 1"}


def test_a_model_that_cannot_hide_tells_only_what_qualifiers_add() -> None:
    model = Frequency(FrequencySettings(), DatasetInfo.from_dataset(DATA))
    found = Predictor(model, DATA).explain(TRAIN[0], OBJECT)
    assert [one.position for one in found.contributions] == ["qualifier 1"]
    assert list(found.supporting) == list(found.attention) == []
    assert any("frequency cannot mask several elements" in note for note in found.notes)
    assert any("frequency has no query embeddings" in note for note in found.notes)


def test_every_position_of_a_gran(gran: TrainedModel, fact: Fact) -> None:
    for position, element in fact.elements().items():
        found = gran.explain(fact, str(position))
        answers = gran.predict_many([fact.query(position)], k=10_000)[0].answers
        answer = next(answer for answer in answers if answer.name == element)
        assert found.score == pytest.approx(answer.score, abs=1e-4)
        assert found.probability == pytest.approx(answer.probability, abs=1e-5)
        (scored,) = gran.score([fact])
        assert found.rank == next(one.rank for one in scored.elements if one.position == str(position))
        sizes = [one.contribution for one in found.contributions]
        assert sizes == sorted(sizes, reverse=True)
        # two other primary elements and two qualifiers; or three, the partner and the other qualifier
        assert len(found.contributions) == (5 if position.number else 4)


def test_leaving_out_a_qualifier_is_asking_without_it(gran: TrainedModel, fact: Fact) -> None:
    found = gran.explain(fact, "subject")
    rest = Query.from_elements(Fact(*fact.primary, fact.qualifiers[1:]).query(Position(Role.SUBJECT)).elements())
    answers = gran.predict_many([rest], k=10_000)[0].answers
    expected = next(answer for answer in answers if answer.name == fact.subject)
    one = next(one for one in found.contributions if one.position == "qualifier 1")
    assert one.score_without == pytest.approx(expected.score, abs=1e-4)
    assert one.probability_without == pytest.approx(expected.probability, abs=1e-5)


def test_supporting_facts_are_the_nearest_questions_for_the_role(gran: TrainedModel, fact: Fact) -> None:
    found = gran.explain(fact, "object")
    context = gran.predictor.context
    known = [one for one in gran.dataset.train.facts(gran.dataset.vocabulary) if one != fact]
    queries = [context.encode(one, OBJECT) for one in [fact, *known]]
    with torch.inference_mode():
        vectors = torch.cat([gran.module.encode(make_batch([query])) for query in queries])
    cosines = torch.nn.functional.cosine_similarity(vectors[:1], vectors[1:], dim=-1)
    nearest = dict(zip(map(str, known), cosines.tolist(), strict=True))
    similarities = [one.similarity for one in found.supporting]
    assert similarities == sorted(similarities, reverse=True)
    assert 0 < len(found.supporting) <= 10
    for one in found.supporting:
        assert nearest[one.fact] == pytest.approx(one.similarity, abs=1e-4)
        assert f"| {one.answer}" in one.fact


def test_a_fact_does_not_support_itself(gran: TrainedModel) -> None:
    for fact in list(gran.dataset.train.facts(gran.dataset.vocabulary))[:5]:
        for position in fact.elements():
            assert str(fact) not in {one.fact for one in gran.explain(fact, position).supporting}


def test_when_many_share_something_those_that_share_most_are_compared(
    gran: TrainedModel, fact: Fact, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbors, "_COMPARED", 3)
    found = gran.explain(fact, "object")
    assert len(found.supporting) == 3
    assert any("among the 3 of" in note for note in found.notes)
    context = gran.predictor.context
    related, total = neighbors._related_queries(context, context.encode(fact, OBJECT))
    assert len(related) == 3 < total


def test_what_a_question_shares_is_counted() -> None:
    context = remembering(DATA).context
    block = DATA.train.blocks[1]  # Ada Ben 1900; Ada Cy 1910; Dee Ben 1900
    assert neighbors._count_shared(block, 2, context.encode(TRAIN[0], OBJECT)).tolist() == [
        0,
        3,
        3,
    ]  # 0: the fact itself
    assert neighbors._count_shared(block, 4, context.encode(TRAIN[0], Position(Role.VALUE, 1))).tolist() == [0, 3, 3]
    assert neighbors._count_shared(block, 2, context.encode(TRAIN[3], OBJECT)).tolist() == [2, 2, 1]


def test_attention_goes_along_edges(gran: TrainedModel, fact: Fact) -> None:
    found = gran.explain(fact, "object").attention
    columns = {str(position): column for column, position in enumerate(fact.elements())}
    types = edge_matrix(2)
    pairs = {(columns[one.source], columns[one.target]): one for one in found}
    assert set(pairs) == set(zip(*np.nonzero(types), strict=True))
    assert all(one.type == types[pair] and 0 <= one.weight <= 1 for pair, one in pairs.items())
    context = gran.predictor.context
    with torch.inference_mode():
        weights = gran.module.attention(make_batch([context.encode(fact, OBJECT)]))
    assert weights is not None
    assert pairs[2, 0].weight == pytest.approx(float(weights[0, :, 2, 0].mean()), abs=1e-6)  # looks in both layers
    assert pairs[0, 2].weight == pytest.approx(float(weights[0, 0, 0, 2]), abs=1e-6)  # looks in the first only


def test_the_json_form(gran: TrainedModel, fact: Fact) -> None:
    found = gran.explain(fact, "object").as_dict()
    assert set(found) == {
        *("fact", "position", "answer", "label", "probability", "score", "rank", "known", "stored", "matches"),
        *("contributions", "supporting", "attention", "rules", "parts", "notes"),
    }
    assert set(found["attention"][0]) == {"from", "to", "type", "weight"}
    assert set(found["supporting"][0]) == {"fact", "label", "answer", "similarity"}
    assert set(found["contributions"][0]) == {
        *("position", "name", "label", "probability_without", "score_without", "contribution")
    }


def test_a_position_the_fact_does_not_have(gran: TrainedModel, fact: Fact) -> None:
    with pytest.raises(FactError, match="has no value 3") as caught:
        gran.explain(fact, "value 3")
    assert "value 2" in str(caught.value.hint)
    with pytest.raises(FactError, match="not a position"):
        gran.explain(fact, "verb")


def test_part_of_a_stored_fact_is_known_with_that_fact() -> None:
    whole = Fact("Ada", "meets", "Ben", [("since", "1900"), ("with", "Cy")])
    predictor = remembering(dataset_of(train=[whole, Fact("Ada", "meets", "Cy")]))
    explained = predictor.explain(Fact("Ada", "meets", "Ben", [("with", "Cy")]), OBJECT)
    assert (explained.known, explained.matches) == (True, 1)
    assert explained.stored is not None
    assert (explained.stored.fact, explained.stored.split) == (str(whole), "train")
    assert not predictor.explain(Fact("Ada", "meets", "Cy", [("with", "Cy")]), OBJECT).known
