"""Answers to queries: by hand with the frequency model, and the laws that hold for every model."""

import math
from copy import deepcopy
from dataclasses import replace
from random import Random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from runs.small import dataset_of, small_data, small_run

from nary.errors import DataError, FactError, SettingError
from nary.evaluation.scorer import ScoreError
from nary.facts import GAP, Fact, Query, Role
from nary.inference.predictor import Predictor
from nary.models.base import DatasetInfo
from nary.models.frequency import Frequency, FrequencySettings
from nary.models.gran import Gran, GranSettings
from nary.runs import TrainedModel

TRAIN = [
    Fact("Ada", "likes", "Ben"),
    Fact("Cy", "likes", "Ben"),
    Fact("Dee", "likes", "Ada", [("since", "1900")]),
    Fact("Ada", "sees", "Dee", [("since", "1900"), ("with", "Ben")]),
]
TEST = [Fact("Ada", "likes", "Cy")]
DATA = dataset_of(train=TRAIN, test=TEST)


@pytest.fixture
def predictor() -> Predictor:
    model = Frequency(FrequencySettings(), DatasetInfo.from_dataset(DATA))
    return Predictor(model, DATA)


@pytest.fixture(scope="module")
def gran(tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    return small_run(tmp_path_factory.mktemp("gran") / "run", dataset=small_data())


def test_by_hand(predictor: Predictor) -> None:
    found = predictor.predict(Query("Ada", "likes", GAP), k=3, known="mark")
    assert (found.query, found.position) == ("Ada | likes | ?", "object")
    assert [answer.name for answer in found.answers[:2]] == ["Ben", "Ada"]
    # Ben twice, Ada once, and a thousandth of a fact shared by all: 2/3.001 and 1/3.001
    assert [answer.probability for answer in found.answers] == pytest.approx([0.6666, 0.3333, 0], abs=2e-4)
    assert [answer.known for answer in found.answers[:2]] == [True, False]


def test_an_answer_known_from_any_split_is_marked(predictor: Predictor) -> None:
    found = predictor.predict(Query("Ada", "likes", GAP), k=99)
    assert {answer.name for answer in found.answers if answer.known} == {"Ben", "Cy"}


@pytest.mark.parametrize(
    ("query", "position", "best"),
    [
        (Query(GAP, "sees", "Dee"), "subject", "Ada"),
        (Query("Ada", GAP, "Dee"), "relation", "likes"),
        (Query("Ada", "sees", GAP, [("with", "Ben")]), "object", "Dee"),
        (Query("Ada", "likes", "Dee", [(GAP, "Ben")]), "attribute 1", "since"),
        (Query("Ada", "sees", "Dee", [("with", GAP)]), "value 1", "Ben"),
        (Query("Ada", "sees", "Dee", [("with", "Ben"), ("since", GAP)]), "value 1", "1900"),
        (Query("Ada", "sees", "Dee", [("since", "1900"), ("with", GAP)]), "value 2", "Ben"),
    ],
    ids=str,
)
def test_a_gap_at_every_position(predictor: Predictor, query: Query, position: str, best: str) -> None:
    found = predictor.predict(query, k=1, known="mark")
    assert found.position == position
    assert [answer.name for answer in found.answers] == [best]


def test_a_gap_among_qualifiers_marks_what_is_known(predictor: Predictor) -> None:
    for query, known in (
        (Query("Ada", "sees", "Dee", [("since", "1900"), ("with", GAP)]), {"Ben"}),
        (Query("Ada", "sees", "Dee", [("with", "Ben"), ("since", GAP)]), {"1900"}),
        (Query("Ada", "sees", "Dee", [("with", "Ben"), (GAP, "1900")]), {"since"}),
        (Query("Ada", "sees", "Dee", [("since", "1900"), (GAP, "Ben")]), {"with"}),
        (Query("Ada", "sees", "Dee", [("since", GAP)]), {"1900"}),
        (Query("Ada", "sees", "Dee", [("since", "1900"), ("since", GAP)]), set()),
    ):
        found = predictor.predict(query, k=99)
        assert {answer.name for answer in found.answers if answer.known} == known, query


def test_a_known_answer_shows_the_stored_fact_that_adds_least() -> None:
    short, long = (
        Fact("Ada", "sees", "Dee", pairs) for pairs in ([("with", "Ben")], [("with", "Ben"), ("on", "Monday")])
    )
    data = dataset_of(train=[long, Fact("Ada", "sees", "Cy")], test=[short])
    predictor = Predictor(Frequency(FrequencySettings(), DatasetInfo.from_dataset(data)), data)
    found = predictor.predict(Query("Ada", "sees", GAP, [("with", "Ben")]), known="only")
    (answer,) = found.answers
    assert (answer.name, answer.matches, found.matches) == ("Dee", 2, 2)
    assert answer.stored is not None
    assert (answer.stored.fact, answer.stored.split) == (str(short), "test")
    assert {one.name for one in predictor.predict(Query("Ada", "sees", GAP), known="only").answers} == {"Dee", "Cy"}


@given(st.integers(0, 200))
def test_given_less_more_is_known(seed: int) -> None:
    random, facts = Random(seed), list(small_data().facts.facts(small_data().vocabulary))
    predictor = Predictor(Frequency(FrequencySettings(), DatasetInfo.from_dataset(small_data())), small_data())
    fact = random.choice(facts)
    position = random.choice([position for position in fact.elements() if position.number == 0])
    query = fact.query(position)
    kept = [pair for pair in query.qualifiers if random.random() < 0.5]
    fewer = Query(query.subject, query.relation, query.object, kept)
    less, more = ({a.name for a in predictor.predict(q, 1000, "only").answers} for q in (query, fewer))
    assert fact.elements()[position] in less <= more


def test_mistakes(predictor: Predictor) -> None:
    with pytest.raises(FactError, match="has 2 gaps"):
        predictor.predict_many([Query("Ada", "likes", GAP), Query(GAP, "likes", GAP)])
    with pytest.raises(FactError, match="has 2 gaps") as caught:
        predictor.predict(Query(GAP, "likes", GAP))
    assert "use complete" in str(caught.value.hint)
    with pytest.raises(SettingError, match="frequency cannot answer when several elements are missing"):
        predictor.complete(Query(GAP, "likes", GAP))
    with pytest.raises(SettingError, match="'mask'"):
        predictor.predict(Query("Ada", "likes", GAP), known="mask")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="unknown entity 'Adda'") as caught:
        predictor.predict(Query("Adda", "likes", GAP))
    assert "Ada" in str(caught.value.hint)
    with pytest.raises(DataError, match="unknown relation 'like'") as caught:
        predictor.predict(Query("Ada", "like", GAP))
    assert "likes" in str(caught.value.hint)
    with pytest.raises(SettingError, match="0 answers"):
        predictor.predict(Query("Ada", "likes", GAP), k=0)


def test_an_arity_never_seen_gets_a_note(predictor: Predictor) -> None:
    pairs = [("since", "1900"), ("with", "Ben"), ("with", "Cy")]
    found = predictor.predict(Query("Ada", "likes", GAP, pairs))
    assert found.notes[0] == "no stored fact has arity 5"
    assert found.answers[0].name == "Ben"
    assert not any("arity" in note for note in predictor.predict(Query("Ada", "likes", GAP, pairs[:1])).notes)


def test_a_question_thinner_than_what_was_trained_on_gets_a_note() -> None:
    facts = [Fact("Ada", "meets", name, [("since", "1900")]) for name in ("Ben", "Cy")]
    data = dataset_of(train=[*facts, Fact("Ada", "likes", "Ben")])
    module = Gran(GranSettings(num_layers=1, hidden_dim=16, num_heads=2), DatasetInfo.from_dataset(data))
    thin, whole = Query("Ada", "meets", GAP), Query("Ada", "likes", GAP)
    (note,) = (note for note in Predictor(module, data).predict(thin).notes if "qualifiers are given" in note)
    assert note.startswith("0 qualifiers are given; every fact with meets that the model was trained on has 1 or more")
    for predictor, query in (
        (Predictor(module, data), whole),
        (Predictor(module, data, partial=True), thin),
        (Predictor(Frequency(FrequencySettings(), DatasetInfo.from_dataset(data)), data), thin),
    ):
        assert not any("qualifiers are given" in note for note in predictor.predict(query).notes)


def test_a_role_the_model_cannot_predict_is_refused(predictor: Predictor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Frequency, "roles", frozenset({Role.SUBJECT, Role.OBJECT}))
    with pytest.raises(SettingError, match="cannot predict the relation") as caught:
        predictor.predict(Query("Ada", GAP, "Ben"))
    assert "object, subject" in str(caught.value.hint)


def test_every_fact_a_gran_was_given_is_known_at_every_position(gran: TrainedModel) -> None:
    for fact in list(gran.dataset.test.facts(gran.dataset.vocabulary))[:4]:
        for position, element in fact.elements().items():
            found = gran.predict(fact.query(position), k=10_000, known="mark")
            names = [answer.name for answer in found.answers]
            assert element in {answer.name for answer in found.answers if answer.known}
            assert len(names) == len(set(names))
            assert sum(answer.probability for answer in found.answers) == pytest.approx(1, abs=1e-4)
            scores = [answer.score for answer in found.answers]
            assert scores == sorted(scores, reverse=True)


def test_a_gran_takes_an_arity_it_never_saw(gran: TrainedModel) -> None:
    names = gran.dataset.vocabulary
    pairs = [(names.relations[0], name) for name in names.entities[:7]]
    found = gran.predict(Query(names.entities[0], names.relations[-1], GAP, pairs), k=5)
    assert len(found.answers) == 5
    assert list(found.notes) == ["no stored fact has arity 9"]


def test_the_order_qualifiers_are_written_in_means_nothing(gran: TrainedModel) -> None:
    fact = next(f for f in gran.dataset.facts.facts(gran.dataset.vocabulary) if len(f.qualifiers) > 1)
    texts = [
        " | ".join([fact.subject, fact.relation, "?", *(f"{a}: {v}" for a, v in pairs)])
        for pairs in (fact.qualifiers, fact.qualifiers[::-1])
    ]
    assert texts[0] != texts[1]
    assert gran.predict(texts[0]) == gran.predict(texts[1])


def test_the_json_form(predictor: Predictor) -> None:
    found = predictor.predict(Query("ada", "LIKES", GAP), k=1).as_dict()
    assert found.pop("notes")
    assert found == {
        "query": "Ada | likes | ?",
        "position": "object",
        "answers": [
            {
                "name": "Ben",
                "label": "Ben",
                "probability": pytest.approx(2 / 3, abs=1e-3),
                "score": pytest.approx(math.log(2), abs=1e-3),
                "known": True,
                "stored": {"fact": "Ada | likes | Ben", "label": "Ada | likes | Ben", "split": "train"},
                "matches": 1,
            }
        ],
        "matches": 2,
        "calibrated": False,
        "value": None,
        "approximate": False,
    }


def test_many_queries_are_answered_as_each_for_itself(gran: TrainedModel) -> None:
    facts = list(gran.dataset.test.facts(gran.dataset.vocabulary))
    queries = [fact.query(position) for fact in facts for position in fact.elements()]
    assert len({query.arity for query in queries}) > 1
    together = gran.predict_many(queries, k=5)
    for query, found in zip(queries, together, strict=True):
        alone = gran.predict_many([query], k=5)[0]
        assert (found.query, found.position, found.notes) == (alone.query, alone.position, alone.notes)
        assert [answer.name for answer in found.answers] == [answer.name for answer in alone.answers]
        assert [a.probability for a in found.answers] == pytest.approx([a.probability for a in alone.answers], abs=1e-5)
    assert gran.predict_many([]) == []


def test_known_answers_are_marked_hidden_or_alone(gran: TrainedModel) -> None:
    fact = next(fact for fact in gran.dataset.test.facts(gran.dataset.vocabulary) if fact.qualifiers)
    for position in fact.elements():
        query = fact.query(position)
        first, every, hidden, only = (
            gran.predict_many([query], 10_000, known)[0].answers for known in ("first", "mark", "hide", "only")
        )
        assert list(first) == [*only, *hidden]
        assert list(gran.predict_many([query], 2)[0].answers) == list(first[:2])
        assert list(hidden) == [answer for answer in every if not answer.known]
        assert list(only) == [answer for answer in every if answer.known]
        assert only
        assert list(gran.predict_many([query], 2, "hide")[0].answers) == list(hidden[:2])
    nothing = gran.predict_many([Query(fact.subject, fact.relation, GAP, fact.qualifiers * 3)], known="only")[0]
    assert list(nothing.answers) == []


def test_probabilities_are_calibrated_on_valid_if_the_model_has_not_learned_from_it(gran: TrainedModel) -> None:
    names = gran.dataset.vocabulary
    query = Query(names.entities[0], names.relations[-1], GAP)
    calibrated, plain = (
        Predictor(gran.module, gran.dataset, held_out).predict_many([query])[0]
        for held_out in (gran.dataset.valid, None)
    )
    assert calibrated.calibrated
    assert not calibrated.notes
    assert not plain.calibrated
    assert "not calibrated" in plain.notes[0]
    assert [answer.name for answer in calibrated.answers] == [answer.name for answer in plain.answers]
    assert [answer.score for answer in calibrated.answers] == [answer.score for answer in plain.answers]
    assert gran.predict(query) == calibrated
    recipe = gran.recipe
    assert recipe is not None
    data = recipe.data.model_copy(update={"train_on": ["train", "valid"]})
    learned = replace(gran, recipe=recipe.model_copy(update={"data": data}))
    assert learned.predict(query) == plain


def test_calibration_makes_valid_facts_more_probable(gran: TrainedModel) -> None:
    queries, answers = [], []
    for fact in gran.dataset.valid.facts(gran.dataset.vocabulary):
        for position, element in fact.elements().items():
            queries.append(fact.query(position))
            answers.append(element)

    def loss(predictor: Predictor) -> float:
        found = predictor.predict_many(queries, k=10_000)
        chances = [{a.name: a.probability for a in one.answers}[name] for one, name in zip(found, answers, strict=True)]
        return -sum(map(math.log, chances))

    assert loss(gran.predictor) < loss(Predictor(gran.module, gran.dataset))


def test_a_model_that_gives_nan_is_refused(gran: TrainedModel) -> None:
    model = deepcopy(gran.module)
    with torch.no_grad():
        next(model.parameters()).fill_(torch.nan)
    names = gran.dataset.vocabulary
    with pytest.raises(ScoreError, match="NaN"):
        Predictor(model, gran.dataset).predict(Query(names.entities[0], names.relations[0], GAP))


def test_a_model_may_be_moved_after_the_predictor_is_made(gran: TrainedModel) -> None:
    model = deepcopy(gran.module)
    predictor = Predictor(model, gran.dataset, gran.dataset.valid)
    fact = next(gran.dataset.test.facts(gran.dataset.vocabulary))
    query = fact.query(next(iter(fact.elements())))
    before = predictor.predict(query), predictor.score([fact])
    model.to("cpu")
    assert (predictor.predict(query), predictor.score([fact])) == before
    model.to("meta")
    assert predictor.context.scorer.device.type == "meta"
