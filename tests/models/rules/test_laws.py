"""Laws of the rules, on generated facts."""

from typing import Any

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nary.data.dataset import Dataset
from nary.facts import Fact
from nary.models.base import DatasetInfo
from nary.models.rules.model import Rules
from nary.models.rules.reader import RuleReader
from nary.models.rules.settings import RulesSettings

_ENTITIES = st.sampled_from([f"e{i}" for i in range(6)])
_RELATIONS = st.sampled_from(["r", "q", "a", "b"])
_PAIRS = st.lists(st.tuples(st.sampled_from(["a", "b"]), _ENTITIES), max_size=3, unique=True)
_FACTS = st.lists(st.builds(Fact, _ENTITIES, _RELATIONS, _ENTITIES, _PAIRS), min_size=1, max_size=14, unique=True)
_LOOSE = RulesSettings(min_support=1, min_confidence=0.0)


def model_of(facts: list[Fact], more: list[Fact] = []) -> tuple[Dataset, Rules]:  # noqa: B006
    """The rules of ``facts``, with the names of ``more`` too."""
    data = Dataset.from_facts("toy", {"train": facts, "test": [*facts, *more]})
    model = Rules(_LOOSE, DatasetInfo.from_dataset(data))
    return data, model


def rules_of(facts: list[Fact], kinds: tuple[Any, ...] = ("link", "constant", "pair", "chain")) -> set[Any]:
    """Every rule in words, with its counts."""
    data, model = model_of(facts)
    reader = RuleReader(model.engine, data.vocabulary)
    return {row for kind in kinds for row in reader.list_rules(kind=kind, limit=1 << 20).drop("row").rows()}


@settings(max_examples=10, deadline=None)
@given(_FACTS)
def test_an_unrelated_fact_changes_no_count(facts: list[Fact]) -> None:
    added = Fact("stranger", "unheard", "other stranger")
    assert rules_of(facts) <= rules_of([*facts, added])


@settings(max_examples=15, deadline=None)
@given(st.builds(Fact, _ENTITIES, _RELATIONS, _ENTITIES, _PAIRS))
def test_a_fact_never_supports_itself(fact: Fact) -> None:
    _, model = model_of([fact])
    tables = model.engine.tables
    assert all(not len(rules) for kind, rules in tables.rules.items() if kind != "same")
    assert not tables.rules["same"].support.any()


@settings(max_examples=10, deadline=None)
@given(_FACTS, st.randoms())
def test_the_order_of_facts_and_qualifiers_changes_nothing(facts: list[Fact], random: Any) -> None:
    turned = [
        Fact(one.subject, one.relation, one.object, random.sample(one.qualifiers, len(one.qualifiers))) for one in facts
    ]  # type: ignore[arg-type]
    random.shuffle(turned)
    assert rules_of(turned, ("same", "link", "constant", "pair", "chain")) == rules_of(
        facts, ("same", "link", "constant", "pair", "chain")
    )


@settings(max_examples=6, deadline=None)
@given(_FACTS)
def test_scores_are_log_probabilities(facts: list[Fact]) -> None:
    data, model = model_of(facts, [Fact("new", "unseen", "newer")])
    for block in data.test.blocks:
        for column in range(block.ids.shape[1]):
            scores = model.engine.score(block.ids.astype(np.int64), column)
            assert scores.isfinite().all()
            torch.testing.assert_close(scores.exp().sum(1), torch.ones(len(scores)))
            assert torch.equal(scores, model.engine.score(block.ids.astype(np.int64), column))
