"""Rules in words, and the facts behind an answer."""

import numpy as np
import pytest

from nary.data.dataset import Dataset
from nary.facts import Fact, Role
from nary.models.base import DatasetInfo
from nary.models.rules.model import Rules
from nary.models.rules.reader import RuleReader
from nary.models.rules.settings import RulesSettings

_SIBLINGS = [Fact(f"{a}{i}", "sibling", f"{b}{i}") for i in range(5) for a, b in (("A", "B"), ("B", "A"))]
_HOMES = [
    fact for i in range(5) for fact in (Fact(f"A{i}", "works at", f"firm {i}"), Fact(f"firm {i}", "in", f"city {i}"))
]
_LIVES = [Fact(f"A{i}", "lives in", f"city {i}") for i in range(4)]
FACTS = [*_SIBLINGS, Fact("B9", "sibling", "A9"), *_HOMES, *_LIVES]


@pytest.fixture(scope="module")
def data() -> Dataset:
    return Dataset.from_facts("toy", {"train": FACTS, "test": [Fact("A9", "sibling", "B9")]})


@pytest.fixture(scope="module")
def reader(data: Dataset) -> RuleReader:
    model = Rules(RulesSettings(), DatasetInfo.from_dataset(data))
    return RuleReader(model.engine, data.vocabulary)


def ids(data: Dataset, subject: str, relation: str, object_: str) -> list[int]:
    names = data.vocabulary
    return [names.relation(relation), names.entity(subject), names.entity(object_)]


def test_an_inverse_is_counted_and_explained(reader: RuleReader, data: Dataset) -> None:
    row = ids(data, "A9", "sibling", "B9")
    best = reader.explain(row, 2, row[2])[0]  # type: ignore[arg-type]
    assert best.kind == "link"
    assert best.facts == (Fact("B9", "sibling", "A9"),)
    # Ten of the eleven pairs (a known, b known to have a as sibling) hold; A9 is the subject of no known fact.
    assert (best.support, best.cases) == (10, 10)
    assert best.confidence == pytest.approx(10 / 15)
    assert "B9 | sibling | A9 is known" in str(best)


def test_a_chain_is_counted_and_explained(reader: RuleReader, data: Dataset) -> None:
    row = ids(data, "A4", "lives in", "city 4")
    best = reader.explain(row, 2, row[2])[0]  # type: ignore[arg-type]
    assert best.kind == "chain"
    assert best.facts == (Fact("A4", "works at", "firm 4"), Fact("firm 4", "in", "city 4"))
    assert (best.support, best.cases) == (4, 4)


def test_rules_are_listed_by_relation_and_kind(reader: RuleReader) -> None:
    rules = reader.list_rules(relation="sibling", kind="link", limit=5)
    assert set(rules["relation"]) == {"sibling"}
    assert "given subject of sibling: object of sibling -> subject of sibling" in rules["body"].to_list()
    assert rules["confidence"].is_sorted(descending=True)


def test_the_table_holds_every_rule(reader: RuleReader) -> None:
    table = reader.table
    assert table.columns == ["kind", "relation", "target", "body", "answer", "support", "cases", "confidence"]
    counted = reader.list_rules(limit=1 << 20)
    assert len(table) == len(counted)
    assert table["answer"].null_count() < len(table)


def test_a_known_fact_does_not_explain_itself(reader: RuleReader, data: Dataset) -> None:
    row = ids(data, "A0", "lives in", "city 0")
    reasons = reader.explain(row, 2, row[2])  # type: ignore[arg-type]
    assert reasons
    assert all(Fact("A0", "lives in", "city 0") not in reason.facts for reason in reasons)


def test_rules_have_examples_from_other_facts(reader: RuleReader) -> None:
    for kind in ("link", "chain"):
        (row,) = reader.list_rules("lives in" if kind == "chain" else "sibling", kind, Role.OBJECT, 1)["row"]  # type: ignore[arg-type]
        example = reader.example(kind, row)  # type: ignore[arg-type]
        assert example is not None
        assert example.fact not in example.because
        i = example.fact.subject[1:]
        if kind == "link":
            assert example.because == (Fact(example.fact.object, "sibling", example.fact.subject),)
        else:
            assert example.because == (Fact(f"A{i}", "works at", f"firm {i}"), Fact(f"firm {i}", "in", f"city {i}"))


def test_rules_for_a_role(reader: RuleReader) -> None:
    assert set(reader.list_rules(role=Role.SUBJECT)["target"].str.split(" ").list.first()) == {"subject"}


def test_a_joint_feature_is_counted_and_explained() -> None:
    def works(person: str, firm: str, team: str) -> Fact:
        return Fact(person, "works at", firm, [("team", team)])

    people = [(f"{firm}{team}{i}", firm, team) for firm in "FG" for team in "XY" for i in range(3)]
    facts = [works(*one) for one in people]
    facts += [Fact(name, "reports to", f"head of {firm}{team}") for name, firm, team in people]
    data = Dataset.from_facts("toy", {"train": facts})
    model = Rules(RulesSettings(joint_features=True, fit_weights=False), DatasetInfo.from_dataset(data))
    reader = RuleReader(model.engine, data.vocabulary)
    row = np.array(ids(data, "FX0", "reports to", "head of FX"))
    best = reader.explain(row, 2, int(row[2]))[0]
    assert best.kind == "constant"
    assert best.facts == (works("FX0", "F", "X"),)
    # Three people work at F in X, and all of them report to its head; of the six at F only half do.
    assert (best.support, best.cases) == (3, 3)
    assert best.body.endswith("= F and subject of works at -> value of team in works at = X in one fact")
    assert model.engine.score(row[None], 2).argmax() == row[2]
