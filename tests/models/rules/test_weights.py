"""How much the rules of each head count."""

import numpy as np

from nary.data.dataset import Dataset
from nary.facts import Fact
from nary.models.base import DatasetInfo
from nary.models.rules.model import Rules
from nary.models.rules.settings import RulesSettings
from nary.models.rules.weights import fit_weights


def cities(people: int = 400) -> Dataset:
    """Where people live follows from where they work, and the year of a fact means nothing."""
    random = np.random.default_rng(0)
    facts = []
    for number in range(people):
        firm, year = random.integers(8), 2000 + random.integers(5)
        facts.append(Fact(f"p{number}", "works at", f"f{firm}", [("year", str(year))]))
        facts.append(Fact(f"p{number}", "lives in", f"c{firm % 4}", [("year", str(2000 + random.integers(5)))]))
    return Dataset.from_facts("cities", {"train": facts})


def rules_of(data: Dataset, fit: bool) -> Rules:
    return Rules(RulesSettings(fit_weights=fit), DatasetInfo.from_dataset(data))


def probability(data: Dataset, rules: Rules, fact: Fact) -> float:
    """Of the object of ``fact``."""
    vocabulary = data.vocabulary
    (attribute, value) = fact.qualifiers[0]
    elements = [vocabulary.relation_ids[fact.relation], vocabulary.entity_ids[fact.subject]]
    elements += [vocabulary.entity_ids[fact.object], vocabulary.relation_ids[attribute], vocabulary.entity_ids[value]]
    return float(rules.engine.score(np.array([elements]), 2)[0, vocabulary.entity_ids[fact.object]].exp())


def test_what_tells_the_answer_counts_more_than_what_does_not() -> None:
    data = cities()
    plain, fitted = rules_of(data, fit=False), rules_of(data, fit=True)
    person = next(one for one in data.train.facts(data.vocabulary) if one.relation == "works at")
    city = f"c{int(person.object[1:]) % 4}"
    question = Fact(person.subject, "lives in", city, [("year", "2003")])
    assert probability(data, fitted, question) > probability(data, plain, question)
    engine = fitted.engine
    slots = [engine.slots.decode(code) for code in engine.heads.slots[:, 1].clip(min=0)]
    assert engine.weights is not None
    lives = data.vocabulary.relation_ids["lives in"]
    of_object = engine.heads.slots[:, 0] == engine.slots.code(slots[0].role.__class__.OBJECT, lives)
    single = of_object & (engine.heads.slots[:, 2:] < 0).all(1)
    by_role = {slots[head].role.value: engine.weights["constant"][head] for head in np.flatnonzero(single)}
    assert by_role["subject"] > by_role["value"]


def test_weights_are_the_same_every_time_and_few_facts_have_none() -> None:
    data = cities()
    one, two = rules_of(data, fit=True).engine.weights, rules_of(data, fit=True).engine.weights
    assert one is not None
    assert two is not None
    assert all((one[kind] == two[kind]).all() for kind in one)
    few = cities(20)
    info, rules = DatasetInfo.from_dataset(few), rules_of(few, fit=True)
    assert rules.engine.weights is None
    assert fit_weights(info.facts, info.num_entities, info.num_relations, RulesSettings(), rules.engine.heads) is None
