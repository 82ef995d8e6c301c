"""Several gaps: with a model whose probabilities are shares of facts, joint probabilities are shares too."""

import pytest
from inference.memory import Memory, remembering
from runs.small import dataset_of, small_run

from nary.errors import SettingError
from nary.facts import GAP, Fact, Query

TRAIN = [
    Fact("Ada", "likes", "Ben"),
    Fact("Ada", "likes", "Cy"),
    Fact("Ada", "sees", "Cy"),
    Fact("Cy", "likes", "Ben"),
    Fact("Ada", "meets", "Ben", [("with", "Cy"), ("with", "Dee")]),
    Fact("Ada", "meets", "Ben", [("since", "1900"), ("with", "Cy")]),
]
DATA = dataset_of(train=TRAIN)


def test_the_joint_probability_is_the_share_of_facts() -> None:
    found = remembering(DATA).complete(Query("Ada", GAP, GAP), known="mark")
    assert found.positions == ["relation", "object"]
    assert found.experimental
    chances = {answer.fact: answer.probability for answer in found.answers if answer.probability > 1e-3}
    assert chances == pytest.approx({"Ada | likes | Ben": 1 / 3, "Ada | likes | Cy": 1 / 3, "Ada | sees | Cy": 1 / 3})
    meeting = "Ada | meets | Ben"  # only with qualifiers, which the model takes for another kind of fact
    assert all(answer.known == (answer.fact in {*chances, meeting}) for answer in found.answers)
    scores = [answer.score for answer in found.answers]
    assert scores == sorted(scores, reverse=True)


def test_all_of_the_primary_triple_may_be_missing() -> None:
    found = remembering(DATA).complete(Query(GAP, GAP, GAP), k=4)
    assert {answer.fact for answer in found.answers} == {str(fact) for fact in TRAIN if fact.arity == 2}
    assert [answer.probability for answer in found.answers] == pytest.approx([1 / 4] * 4)


def test_what_stands_in_each_gap_is_told() -> None:
    found = remembering(DATA).complete(Query(GAP, "sees", GAP), k=1).as_dict()
    assert found["positions"] == ["subject", "object"]
    assert found["answers"] == [
        {
            "fact": "Ada | sees | Cy",
            "elements": [
                {"position": "subject", "name": "Ada", "label": "Ada"},
                {"position": "object", "name": "Cy", "label": "Cy"},
            ],
            "probability": pytest.approx(1),
            "score": pytest.approx(0, abs=1e-5),
            "known": True,
            "stored": {"fact": "Ada | sees | Cy", "label": "Ada | sees | Cy", "split": "train"},
            "matches": 1,
        }
    ]
    assert found["matches"] == 1


def test_equal_gaps_filled_in_either_order_make_one_fact() -> None:
    found = remembering(DATA).complete(Query("Ada", "meets", "Ben", [("with", GAP), ("with", GAP)]))
    facts = [answer.fact for answer in found.answers]
    assert len(facts) == len(set(facts))
    assert facts[0] == "Ada | meets | Ben | with: Cy | with: Dee"
    assert found.answers[0].probability == pytest.approx(1)  # 1/2 for each order
    assert {element.name for element in found.answers[0].elements} == {"Cy", "Dee"}


def test_nothing_is_said_twice() -> None:
    found = remembering(DATA).complete(Query("Ada", "meets", "Ben", [("with", "Cy"), (GAP, GAP)]), k=50)
    assert {answer.fact for answer in found.answers if answer.known} == {str(TRAIN[4]), str(TRAIN[5])}
    assert "Ada | meets | Ben | with: Cy | with: Cy" not in {answer.fact for answer in found.answers}


def test_known_completions_are_hidden_or_alone() -> None:
    predictor, query = remembering(DATA), Query("Ada", GAP, GAP)
    first, every, hidden, only = (
        predictor.complete(query, 30, known).answers for known in ("first", "mark", "hide", "only")
    )
    assert {answer.fact for answer in only} == {*map(str, TRAIN[:3]), "Ada | meets | Ben"}
    assert hidden
    assert not any(answer.known for answer in hidden)
    assert {answer.fact for answer in every} <= {answer.fact for answer in [*hidden, *only]}
    assert list(first[:4]) == list(only)
    assert not any(answer.known for answer in first[4:])


def test_a_stored_completion_is_found_however_improbable() -> None:
    (meeting,) = (one for one in remembering(DATA).complete(Query("Ada", GAP, GAP)).answers if one.matches > 1)
    assert (meeting.fact, meeting.matches) == ("Ada | meets | Ben", 2)
    assert meeting.stored is not None
    assert meeting.stored.fact == str(TRAIN[4])
    assert meeting.probability == pytest.approx(0, abs=1e-6)


def test_stored_facts_fill_gaps_among_qualifiers() -> None:
    query = Query("Ada", "meets", GAP, [("with", GAP), (GAP, "1900")])
    found = remembering(DATA).complete(query, known="only")
    assert [answer.fact for answer in found.answers] == [str(TRAIN[5])]
    assert found.matches == 1


def test_many_stored_completions_are_counted() -> None:
    facts = [Fact(f"person {i}", "likes", f"thing {i}") for i in range(40)]
    found = remembering(dataset_of(train=facts)).complete(Query(GAP, "likes", GAP), k=5, known="only")
    assert (len(found.answers), found.matches) == (5, 40)
    assert any("40 stored facts match" in note for note in found.notes)


def test_a_model_that_cannot_hide_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Memory, "supports_multiple_masks", False)
    with pytest.raises(SettingError, match="memory cannot answer when several") as caught:
        remembering(DATA).complete(Query(GAP, "likes", GAP))
    assert "Leave one gap" in str(caught.value.hint)


def test_a_gran_fills_every_pair_of_gaps(tmp_path_factory: pytest.TempPathFactory) -> None:
    run = small_run(tmp_path_factory.mktemp("gran") / "run", training__epochs=1)
    fact = next(fact for fact in run.dataset.facts.facts(run.dataset.vocabulary) if len(fact.qualifiers) == 2)
    elements = fact.elements()
    for first in elements:
        for second in elements:
            if str(first) < str(second):
                query = Query.from_elements({**elements, first: GAP, second: GAP})
                found = run.complete(query, k=3)
                assert len(found.positions) == 2
                assert len(found.answers) == 3
                assert sum(answer.probability for answer in found.answers) <= 1
