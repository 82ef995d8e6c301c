"""Suggested qualifiers: counted by hand."""

import pytest
from inference.memory import remembering
from runs.small import dataset_of

from nary.errors import SettingError
from nary.facts import Fact

TRAIN = [
    Fact("Ada", "meets", "Ben", [("with", "Cy"), ("since", "1900")]),
    Fact("Ada", "meets", "Ben", [("with", "Dee"), ("since", "1900")]),
    Fact("Ada", "meets", "Ben", [("with", "Dee"), ("with", "Cy")]),
    Fact("Ada", "meets", "Ben", [("since", "1900")]),
    Fact("Ada", "meets", "Ben", [("since", "1900")]),
    Fact("Ada", "sees", "Ben"),
]
DATA = dataset_of(train=TRAIN)


def test_by_hand() -> None:
    found = remembering(DATA).suggest(Fact("Ada", "meets", "Ben", [("with", "Dee")]))
    # facts that have `since`: 4; those that have `with` more than once: 1; all facts together count like one more, of
    # whose qualifiers 4 are `since` and 4 are `with`. With `with: Dee`, `since` can only be 1900 and `with` only Cy.
    best = found.suggestions[:2]
    assert [(one.attribute, one.value) for one in best] == [("since", "1900"), ("with", "Cy")]
    assert [one.probability for one in best] == pytest.approx([4.5 / 6, 1.5 / 6])
    assert sum(one.probability for one in found.suggestions) <= 1 + 1e-6


def test_what_a_fact_has_is_not_suggested() -> None:
    found = remembering(DATA).suggest(Fact("Ada", "meets", "Ben", [("with", "Dee")]), k=100).suggestions
    assert ("with", "Dee") not in {(one.attribute, one.value) for one in found}
    assert len({(one.attribute, one.value) for one in found}) == len(found)


def test_the_json_form_and_k() -> None:
    found = remembering(DATA).suggest(Fact("ada", "meets", "ben"), k=1).as_dict()
    assert found["fact"] == "Ada | meets | Ben"
    assert found["notes"] == ["the probabilities are not calibrated: there are no valid facts held out from training"]
    (suggestion,) = found["suggestions"]
    assert suggestion.pop("probability") == pytest.approx(4.5 / 8)  # since 4 times, with 3 times
    assert suggestion == {"attribute": "since", "attribute_label": "since", "value": "1900", "value_label": "1900"}
    with pytest.raises(SettingError, match="0 answers"):
        remembering(DATA).suggest(TRAIN[0], k=0)


def test_a_relation_that_never_had_qualifiers_gets_the_usual_ones_and_a_note() -> None:
    found = remembering(DATA).suggest(TRAIN[-1])
    assert found.suggestions
    assert any("no fact in train with the relation sees" in note for note in found.notes)


def test_data_without_any_qualifier() -> None:
    found = remembering(dataset_of(train=[Fact("Ada", "sees", "Ben")])).suggest(Fact("Ada", "sees", "Ben"))
    assert list(found.suggestions) == []
