"""Suspicious facts: planted errors among facts that follow rules."""

import json

import numpy as np
import pytest
from runs.small import dataset_of

from nary.data.dataset import Dataset
from nary.errors import SettingError
from nary.facts import Fact
from nary.runs.suspects import find_suspects, percentiles, score_facts

# A member of a team wears its color, lives and votes in its town, and earns what is usual there.
_TEAMS = {"red": ("Rome", 100), "blue": ("Bonn", 500), "green": ("Oslo", 900)}
_FACTS = [
    fact
    for team, (town, pay) in _TEAMS.items()
    for number in range(12)
    for fact in (
        Fact(f"{team} {number}", "plays in", team, [("amount", f"{pay + 3 * number}^^number")]),
        Fact(f"{team} {number}", "lives in", town),
        Fact(f"{team} {number}", "wears", team),
        Fact(f"{team} {number}", "votes in", town),
    )
]
_WRONG_TOWN = _FACTS.index(Fact("red 4", "lives in", "Rome"))
_WRONG_PAY = _FACTS.index(Fact("blue 7", "plays in", "blue", [("amount", "521^^number")]))


@pytest.fixture(scope="module")
def spoiled() -> Dataset:
    facts = list(_FACTS)
    facts[_WRONG_TOWN] = Fact("red 4", "lives in", "Oslo")
    facts[_WRONG_PAY] = Fact("blue 7", "plays in", "blue", [("amount", "52100^^number")])
    return dataset_of(train=facts)


def test_percentiles_by_hand() -> None:
    slot = np.array([0, 0, 0, 0, 7, 7, -1])
    fit = np.array([-3.0, -1, -1.0001, 0, -5, -5, -9])
    assert percentiles(slot, fit).tolist() == [0.25, 0.75, 0.75, 1, 1, 1, 1]


def test_planted_errors_are_found_first(spoiled: Dataset) -> None:
    suspects = find_suspects(spoiled, limit=6, folds=12)
    texts = list(map(str, spoiled.train.facts(spoiled.vocabulary)))
    assert suspects[0].fact == texts[_WRONG_TOWN]
    by_fact = {suspect.fact: suspect for suspect in suspects}
    odd = by_fact[texts[_WRONG_TOWN]].elements
    assert ("object", "Oslo", "Rome") in [(one.position, one.name, one.expected) for one in odd]
    odd = by_fact[texts[_WRONG_PAY]].elements
    assert ("value 1", "52100") in [(one.position, one.label) for one in odd]
    scores = [suspect.score for suspect in suspects]
    assert scores == sorted(scores)
    assert json.loads(json.dumps(suspects[0].as_dict()))["elements"][0]["position"]


def test_every_fact_is_scored_once_and_always_alike(spoiled: Dataset) -> None:
    scores, _ = score_facts(spoiled, folds=3)
    assert scores.shape == (len(_FACTS),)
    assert np.array_equal(scores, score_facts(spoiled, folds=3)[0])


@pytest.mark.parametrize("folds", [0, 1, 1000])
def test_folds_must_be_possible(spoiled: Dataset, folds: int) -> None:
    with pytest.raises(SettingError, match=f"144 facts in {folds} folds"):
        find_suspects(spoiled, 5, folds)
