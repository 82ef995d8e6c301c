"""The figures of the dataset card are those of the data."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib.resources import files

import pytest

from nary.data.dataset import Dataset
from nary.data.nobel import COLUMNS, Row, dataset, facts, rows
from nary.facts import Fact


@pytest.fixture(scope="module")
def table() -> list[Row]:
    return rows()


@pytest.fixture(scope="module")
def all_facts() -> list[Fact]:
    return facts()


@pytest.fixture(scope="module")
def nobel() -> Dataset:
    return dataset()


@pytest.fixture(scope="module")
def card() -> str:
    return files("nary.data.nobel").joinpath("README.md").read_text("utf-8")


def tables(text: str) -> Iterator[list[list[str]]]:
    """The Markdown tables: lists of rows of cells, without the line of dashes."""
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]
        yield [lines[0], *lines[2:]]


def card_table(text: str, first_column: str) -> list[list[str]]:
    return next(own[1:] for own in tables(text) if own[0][0] == first_column)


def test_the_card_counts_the_prizes(card: str, table: list[Row]) -> None:
    prizes = Counter(category for _, category in {(row.year, row.category) for row in table})
    laureates = Counter(row.category for row in table)
    counts = [[category, str(n), str(laureates[category])] for category, n in prizes.items()]
    *counted, total = card_table(card, "category")
    assert sorted(counted) == sorted(counts)
    assert total == ["all", str(prizes.total()), str(laureates.total())]


def test_the_card_lists_the_columns(card: str) -> None:
    assert tuple(column for column, _ in card_table(card, "column")) == COLUMNS


def test_the_card_counts_relations_and_attributes(card: str, all_facts: list[Fact]) -> None:
    arities = defaultdict(list)
    for fact in all_facts:
        arities[fact.relation].append(fact.arity)
    expected = [
        [relation, str(len(own)), " to ".join(str(arity) for arity in sorted({min(own), max(own)}))]
        for relation, own in sorted(arities.items(), key=lambda item: (-len(item[1]), item[0]))
    ]
    assert [line[:3] for line in card_table(card, "relation")] == expected
    attributes = defaultdict(list)
    for fact in all_facts:
        for attribute, _ in fact.qualifiers:
            attributes[attribute].append(fact.relation)
    assert card_table(card, "attribute") == [
        [attribute, str(len(own)), ", ".join(sorted(set(own)))]
        for attribute, own in sorted(attributes.items(), key=lambda item: -len(item[1]))
    ]


def test_the_card_gives_the_sums(card: str, nobel: Dataset, all_facts: list[Fact], table: list[Row]) -> None:
    text = " ".join(card.split())
    relations = {fact.relation for fact in all_facts}
    attributes = {attribute for fact in all_facts for attribute, _ in fact.qualifiers}
    assert (
        f"There are {len(all_facts)} facts over {len(nobel.vocabulary.entities)} entities and "
        f"{len(nobel.vocabulary.relations)} relations ({len(relations)} primary relations and {len(attributes)} "
        f"attributes). {sum(fact.arity > 2 for fact in all_facts)} facts have qualifiers."
    ) in text
    people = [row for row in table if row.kind in ("m", "f")]
    organizations = [row for row in table if row.kind == "org"]
    assert f"they are {len(people)} people and {len(organizations)} organizations" in text
    assert f"{sum(not row.birthplace for row in people)} people have no birthplace" in text


def test_the_card_describes_the_splits(card: str, nobel: Dataset) -> None:
    splits = {split: list(own.facts(nobel.vocabulary)) for split, own in nobel.splits.items()}
    awards = {split: [fact for fact in own if fact.relation == "award received"] for split, own in splits.items()}
    assert card_table(card, "split") == [
        [split, str(len(own)), str(sum(fact.arity > 2 for fact in own)), str(len(awards[split]))]
        for split, own in splits.items()
    ]
    shared = [prize(fact) for fact in awards["test"] if "together with" in dict(fact.qualifiers)]
    in_train = {prize(fact) for fact in awards["train"]}
    assert (
        f"Of the {len(awards['test'])} prize facts in test, {len(shared)} are of shared prizes; "
        f"for {sum(own in in_train for own in shared)} of these train holds the fact of a co-laureate"
    ) in " ".join(card.split())


def prize(fact: Fact) -> tuple[str, str]:
    return fact.object, dict(fact.qualifiers)["point in time"]
