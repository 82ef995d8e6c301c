"""Scores of the rules against the reference by plain loops."""

from typing import Any

import numpy as np
import pytest
import torch
from reference.rules import Reference, elements
from runs.small import small_data

from nary.data.dataset import Dataset
from nary.data.synthetic import generate
from nary.facts import FactTable, layout
from nary.models.base import DatasetInfo
from nary.models.rules import chains
from nary.models.rules.model import Rules
from nary.models.rules.scoring import Engine
from nary.models.rules.settings import RulesSettings
from nary.models.rules.slots import contexts
from nary.models.rules.tables import KINDS, Kind


def plain(table: FactTable) -> list[Any]:
    """The facts as the reference reads them."""
    facts = []
    for block in table.blocks:
        m = block.qualifiers
        for row in block.ids.tolist():
            pairs = tuple(zip(row[3 : 3 + m], row[3 + m :], strict=True))
            facts.append((row[0], row[1], row[2], pairs))
    return facts


def places(num_qualifiers: int) -> list[str]:
    """The reference's name of each column."""
    numbers = range(num_qualifiers)
    return ["R", "S", "O", *(f"A{i}" for i in numbers), *(f"V{i}" for i in numbers)]


def check(data: Dataset, settings: RulesSettings, every: int = 1) -> None:
    """Compare all scores of some facts, with random weights."""
    info = DatasetInfo.from_dataset(data)
    tables, random = Rules(settings, info).engine.tables, np.random.default_rng(0)
    weights = {kind: random.uniform(0.2, 2, len(tables.base.heads)) for kind in KINDS}
    engine = Engine(info.facts, info.num_entities, info.num_relations, tables, weights)
    reference = Reference(plain(data.train), info.num_entities, info.num_relations, settings)
    for table in (data.train, data.test):
        for fact in plain(table)[::every]:
            row = np.array([[elements(fact)[place] for place in places(len(fact[3]))]])
            names = places(layout.num_qualifiers(row.shape[1]))
            for column, place in enumerate(names):
                heads = {
                    frozenset(names[at] for at in context.columns): engine.heads.numbers(context.heads)[0]
                    for context in contexts(engine.slots, row, column)
                }

                def weight(kind: Kind, anchors: tuple[str, ...], heads: Any = heads) -> float:
                    return float(weights[kind][heads[frozenset(anchors)]])

                scores = engine.score(row, column)[0].double()
                expected = torch.tensor(reference.scores(fact, place, weight), dtype=torch.float64)
                torch.testing.assert_close(scores, expected, rtol=1e-4, atol=1e-4)


@pytest.fixture(autouse=True)
def all_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains are neither sampled nor cut."""
    monkeypatch.setattr(chains, "BUDGET", 1 << 40)
    monkeypatch.setattr(chains, "TOTAL", 1 << 60)
    monkeypatch.setattr(chains, "PER_HEAD", 1 << 20)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"chains": False, "prior": 1.0, "min_support": 1},
        {"max_degree": 3, "min_confidence": 0.1},
        {"joint_features": True},
    ],
)
def test_scores_equal_the_reference(changed: dict[str, Any]) -> None:
    check(small_data(40), RulesSettings(**changed), every=4)


@pytest.mark.parametrize("joint", [False, True])
def test_they_do_so_with_many_facts_of_few_entities(joint: bool) -> None:
    data = generate(facts=60, entities=6, relations=2, max_arity=5)
    train, settings = data.facts, RulesSettings(joint_features=joint)
    check(Dataset("few", data.vocabulary, {"train": train, "test": train.take(np.arange(4))}), settings, every=8)
