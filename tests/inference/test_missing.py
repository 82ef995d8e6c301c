"""What is probably missing about an entity."""

import numpy as np
import pytest
from inference.laureates import laureates
from runs.small import dataset_of, small_recipe, train_in

from nary.facts import Fact, Role
from nary.inference.missing import EntitySlots
from nary.runs import TrainedModel


def _slots(facts: list[Fact]) -> tuple[EntitySlots, dict[str, int]]:
    data = dataset_of(train=facts)
    vocabulary = data.vocabulary
    slots = EntitySlots(data.train, len(vocabulary.entities), len(vocabulary.relations))
    return slots, dict(vocabulary.entity_ids)


def test_others_like_it_have_what_it_lacks() -> None:
    people = [f"person {number}" for number in range(60)]
    facts = [Fact(person, "born in", "Paris") for person in [*people, "Ada"]]
    facts += [Fact(person, "award", "Physics", [("year", "1903")]) for person in people[:45]]
    slots, ids = _slots(facts)
    (award,) = slots.likely(ids["Ada"])
    assert slots.role(award.slot) == (Role.SUBJECT, 0)
    assert (award.known, award.share, award.compared) == (0, 45 / 60, 60)
    assert slots.likely(ids["person 0"]) == []
    assert slots.likely(ids["1903"]) == []


def test_where_it_stands_already_the_share_is_that_of_one_more() -> None:
    facts = [Fact("a", "child", str(number)) for number in range(3)]
    facts += [Fact("b", "child", "4"), Fact("b", "child", "5"), Fact("c", "child", "6"), Fact("d", "child", "7")]
    slots, ids = _slots(facts)
    for name, known, share, compared in [("c", 1, 2 / 4, 4), ("b", 2, 1 / 2, 2)]:
        (child,) = slots.likely(ids[name])
        assert (child.known, child.share, child.compared) == (known, pytest.approx(share), compared)
    assert slots.likely(ids["a"]) == []


def test_an_entity_without_facts_is_like_no_other() -> None:
    slots = EntitySlots(dataset_of(train=[Fact("a", "r", "b")]).train, 3, 1)
    assert slots.likely(2) == []


@pytest.fixture(scope="module")
def model() -> TrainedModel:
    whole = laureates()
    left_out = Fact("Albert Einstein", "field of work", "physics")
    splits = {split: list(table.facts(whole.vocabulary)) for split, table in whole.splits.items()}
    data = dataset_of(**{split: [fact for fact in facts if fact != left_out] for split, facts in splits.items()})
    return train_in(None, data, small_recipe(data, "rules")).model


def test_a_fact_that_was_left_out_comes_back(model: TrainedModel) -> None:
    missing = model.missing("albert einstein")
    assert missing.name == "Albert Einstein"
    first = missing.slots[0]
    assert (first.role, first.relation, first.known, first.share) == ("subject", "field of work", 0, 1.0)
    assert first.query == "Albert Einstein | field of work | ?"
    assert first.answers[0].name == "physics"
    probabilities = [one.share * one.answers[0].probability for one in missing.slots]
    assert probabilities == sorted(probabilities, reverse=True)
    assert np.min(probabilities) >= 0.01
    assert len(model.missing("Albert Einstein", k=1).slots) == 1


def test_doubtful_facts_come_first(model: TrainedModel) -> None:
    facts = model.doubtful("Albert Einstein")
    assert facts.total == facts.checked == model.entity("Albert Einstein").total
    plausible = [one.plausibility for one in facts.facts]
    assert plausible == sorted(plausible)
    page = model.doubtful("Albert Einstein", limit=2, offset=1)
    assert (page.offset, page.checked, page.total) == (1, 2, facts.total)
    stored = [one.fact for one in model.find_facts("Albert Einstein | ? | ?").facts]
    assert sorted(one.fact for one in page.facts) == sorted(stored[1:3])
