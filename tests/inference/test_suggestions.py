"""Suggested qualifiers: known ones first, the others counted by hand."""

import pytest
from inference.memory import remembering
from runs.small import dataset_of

from nary.errors import SettingError
from nary.facts import Fact
from nary.inference.results import Suggestions

TRAIN = [
    Fact("Ada", "meets", "Ben", [("with", "Cy"), ("since", "1900")]),
    Fact("Ada", "meets", "Ben", [("with", "Dee"), ("since", "1900")]),
    Fact("Ada", "meets", "Ben", [("with", "Dee"), ("with", "Cy")]),
    Fact("Ada", "meets", "Ben", [("since", "1900")]),
    Fact("Ada", "meets", "Ben", [("since", "1900")]),
    Fact("Ada", "sees", "Ben"),
]
TEST = [Fact("Ada", "meets", "Ben", [("with", "Dee"), ("since", "1901"), ("with", "Cy")])]
DATA = dataset_of(train=TRAIN, test=TEST)
GIVEN = Fact("Ada", "meets", "Ben", [("with", "Dee")])


def pairs(suggested: Suggestions) -> list[tuple[str, str]]:
    return [(one.attribute, one.value) for one in suggested.suggestions]


def test_by_hand() -> None:
    suggested = remembering(DATA).suggest(GIVEN, known="mark")
    # 4 facts have `since`, 1 has `with` twice, and all attributes together, 4 and 4, count as one more; those with one
    # `with`, 2 and 1, count again, and then again because all have the object. With `with: Dee`, `since` can only be
    # 1900 in train, for the model and in the range, and `with` only Cy.
    since = (2 + (2 + 4.5 / 6) / 4) / 4
    assert pairs(suggested)[:2] == [("since", "1900"), ("with", "Cy")]
    assert [one.probability for one in suggested.suggestions[:2]] == pytest.approx([since, 1 - since])
    assert sum(one.probability for one in suggested.suggestions) <= 1 + 1e-6


def test_what_stored_facts_add_comes_first_with_the_fact() -> None:
    suggested = remembering(DATA).suggest(GIVEN, k=4)
    assert pairs(suggested)[:3] == [("since", "1900"), ("with", "Cy"), ("since", "1901")]
    assert [one.known for one in suggested.suggestions] == [True, True, True, False]
    assert suggested.matches == 3
    since, with_cy, other_since, predicted = suggested.suggestions
    assert (since.stored.fact, since.stored.split, since.matches) == (str(TRAIN[1]), "train", 1)  # type: ignore[union-attr]
    assert (with_cy.stored.fact, with_cy.matches) == (str(TRAIN[2]), 2)  # type: ignore[union-attr] # the shorter one
    assert other_since.stored.split == "test"  # type: ignore[union-attr]
    assert (predicted.stored, predicted.matches) == (None, 0)


def test_known_qualifiers_can_be_hidden_or_shown_alone() -> None:
    predictor = remembering(DATA)
    known, hidden = (predictor.suggest(GIVEN, 100, known) for known in ("only", "hide"))
    assert set(pairs(known)) == {("since", "1900"), ("with", "Cy"), ("since", "1901")}
    assert not set(pairs(hidden)) & set(pairs(known))
    assert set(pairs(hidden)) | set(pairs(known)) == set(pairs(predictor.suggest(GIVEN, 100, "mark")))
    with pytest.raises(SettingError, match="unknown value for known: 'never'"):
        predictor.suggest(GIVEN, known="never")  # type: ignore[arg-type]


def test_given_more_fewer_stored_facts_add_something() -> None:
    more = Fact("Ada", "meets", "Ben", [("with", "Dee"), ("with", "Cy")])
    suggested = remembering(DATA).suggest(more, known="only")
    assert pairs(suggested) == [("since", "1901")]
    assert suggested.matches == 2
    assert remembering(DATA).suggest(TEST[0], known="only").matches == 1


def test_what_a_fact_has_is_not_suggested() -> None:
    suggested = pairs(remembering(DATA).suggest(GIVEN, k=100))
    assert ("with", "Dee") not in suggested
    assert len(set(suggested)) == len(suggested)


def test_the_json_form_and_k() -> None:
    result = remembering(DATA).suggest(Fact("ada", "meets", "ben", [("since", "1901")]), k=1).as_dict()
    assert result["fact"] == "Ada | meets | Ben | since: 1901"
    assert result["notes"] == ["the probabilities are not calibrated: no valid facts are held out from training"]
    assert (result["matches"], result["calibrated"]) == (1, False)
    (suggestion,) = result["suggestions"]
    assert 0 < suggestion.pop("probability") < 1
    assert suggestion.pop("stored") == {"fact": str(TEST[0]), "label": str(TEST[0]), "split": "test"}
    names = {"attribute": "with", "attribute_label": "with", "value": "Cy", "value_label": "Cy"}
    assert suggestion == {**names, "known": True, "matches": 1}
    with pytest.raises(SettingError, match="0 answers"):
        remembering(DATA).suggest(TRAIN[0], k=0)


def test_a_relation_that_never_had_qualifiers_gets_the_usual_ones_and_a_note() -> None:
    suggested = remembering(DATA).suggest(TRAIN[-1])
    assert suggested.suggestions
    assert any("no training fact with the relation sees" in note for note in suggested.notes)


def test_data_without_any_qualifier() -> None:
    suggested = remembering(dataset_of(train=[Fact("Ada", "sees", "Ben")])).suggest(Fact("Ada", "sees", "Ben"))
    assert list(suggested.suggestions) == []
