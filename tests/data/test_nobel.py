from collections import Counter, defaultdict
from fractions import Fraction

import pytest

from nary.data.audit import audit
from nary.data.dataset import Dataset
from nary.data.nobel import PRIZES, dataset, facts
from nary.facts import Fact, parse_fact


@pytest.fixture(scope="module")
def all_facts() -> list[Fact]:
    return facts()


@pytest.fixture(scope="module")
def nobel() -> Dataset:
    return dataset()


def awards(found: list[Fact]) -> dict[tuple[str, str], list[Fact]]:
    """The award facts of each prize: of its name and year."""
    by_prize = defaultdict(list)
    for fact in found:
        if fact.relation == "award received":
            by_prize[fact.object, dict(fact.qualifiers)["point in time"]].append(fact)
    return by_prize


def values(fact: Fact, attribute: str) -> list[str]:
    return [value for name, value in fact.qualifiers if name == attribute]


@pytest.mark.parametrize(
    "text",
    [
        "Marie Curie | award received | Nobel Prize in Physics | point in time: 1903 | prize share: 1/4"
        " | together with: Henri Becquerel | together with: Pierre Curie",
        "Marie Curie | award received | Nobel Prize in Chemistry | point in time: 1911 | prize share: 1"
        " | affiliation: University of Paris",
        "Marie Curie | born in | Warsaw | point in time: 1867",
        "Warsaw | country | Poland",
        "Marie Curie | sex or gender | female",
        "Marie Curie | country of citizenship | Poland",
        "Marie Curie | educated at | University of Paris",
        "Richard Feynman | field of work | quantum electrodynamics",
        "Pierre Curie | spouse | Marie Curie",
        "Marie Curie | child | Irène Joliot-Curie",
        "Niels Bohr | child | Aage Bohr",
        "Linus Pauling | award received | Nobel Peace Prize | point in time: 1962 | prize share: 1",
        "International Committee of the Red Cross | inception | 1863",
        "International Committee of the Red Cross | headquarters location | Geneva",
        "International Committee of the Red Cross | instance of | organization",
        "International Committee of the Red Cross | award received | Nobel Peace Prize | point in time: 1963"
        " | prize share: 1/2 | together with: League of Red Cross Societies",
    ],
)
def test_the_facts_hold(text: str, all_facts: list[Fact]) -> None:
    assert parse_fact(text) in all_facts


def test_marie_curie_s_first_prize_is_exactly_one_fact(all_facts: list[Fact]) -> None:
    prize = ("Marie Curie", "award received", "Nobel Prize in Physics")
    assert [str(fact) for fact in all_facts if fact.primary == prize] == [
        "Marie Curie | award received | Nobel Prize in Physics | point in time: 1903 | prize share: 1/4"
        " | together with: Henri Becquerel | together with: Pierre Curie"
    ]


def test_shares_of_a_prize_add_up_to_one(all_facts: list[Fact]) -> None:
    for prize, own in awards(all_facts).items():
        assert sum(Fraction(*map(int, values(fact, "prize share")[0].split("/"))) for fact in own) == 1, prize


def test_every_laureate_s_fact_names_all_the_others(all_facts: list[Fact]) -> None:
    for prize, own in awards(all_facts).items():
        laureates = {fact.subject for fact in own}
        for fact in own:
            assert Counter(values(fact, "together with")) == Counter(laureates - {fact.subject}), prize


def test_who_was_honored_more_than_once(all_facts: list[Fact]) -> None:
    times = defaultdict(list)
    for (prize, year), own in awards(all_facts).items():
        for fact in own:
            times[fact.subject].append((int(year), prize))
    assert {laureate: sorted(own) for laureate, own in times.items() if len(own) > 1} == {
        "Marie Curie": [(1903, PRIZES["Physics"]), (1911, PRIZES["Chemistry"])],
        "Linus Pauling": [(1954, PRIZES["Chemistry"]), (1962, PRIZES["Peace"])],
        "John Bardeen": [(1956, PRIZES["Physics"]), (1972, PRIZES["Physics"])],
        "Frederick Sanger": [(1958, PRIZES["Chemistry"]), (1980, PRIZES["Chemistry"])],
        "Barry Sharpless": [(2001, PRIZES["Chemistry"]), (2022, PRIZES["Chemistry"])],
        "International Committee of the Red Cross": [(year, PRIZES["Peace"]) for year in (1917, 1944, 1963)],
        "United Nations High Commissioner for Refugees": [(year, PRIZES["Peace"]) for year in (1954, 1981)],
    }


def test_no_fact_twice_and_the_order_is_stable(all_facts: list[Fact]) -> None:
    assert len(set(all_facts)) == len(all_facts)
    assert facts() == all_facts
    assert str(all_facts[0]).startswith("Wilhelm Röntgen | award received | Nobel Prize in Physics | ")


def test_arities_and_relations_are_mixed(all_facts: list[Fact]) -> None:
    assert {fact.arity for fact in all_facts} == set(range(2, 9))
    _, most = Counter(fact.relation for fact in all_facts).most_common(1)[0]
    assert most <= 0.3 * len(all_facts)


def test_no_fact_mirrors_another(all_facts: list[Fact]) -> None:
    pairs = {(fact.subject, fact.object) for fact in all_facts if fact.relation in ("spouse", "child")}
    assert pairs
    assert not any((object, subject) in pairs for subject, object in pairs)


def test_the_splits_hold_all_facts_eight_to_one_to_one(nobel: Dataset, all_facts: list[Fact]) -> None:
    tenth = round(0.1 * len(all_facts))
    assert {split: len(own) for split, own in nobel.splits.items()} == {
        "train": len(all_facts) - 2 * tenth,
        "valid": tenth,
        "test": tenth,
    }
    assert set(nobel.facts.facts(nobel.vocabulary)) == set(all_facts)


def test_every_split_has_every_arity(nobel: Dataset) -> None:
    for split, own in nobel.splits.items():
        assert set(own.arities) == set(range(2, 9)), split


def test_nothing_leaks(nobel: Dataset) -> None:
    found = audit(nobel)
    assert (found.test_in_train, found.test_primary_in_train, found.test_unseen) == (0, 0, 0)
    assert found.duplicates == {"train": 0, "valid": 0, "test": 0}
    assert found.suspicious_labels == {}
    assert found.clean


def test_nothing_changes_unnoticed(nobel: Dataset) -> None:
    assert nobel.vocabulary.fingerprint == "dd94920ea1eb3f6f8969269a08cc0580714a507d6552b994f581726827a129c3"
    assert {split: own.fingerprint for split, own in nobel.splits.items()} == {
        "train": "7d12dbe8ad02a6c33c85ea448733b3ec723076cec55501f09b8a0b2073dadcfd",
        "valid": "24ef3a320a7e79657a0d8220635e7f7f582fe8008baa63e8f3d8805373568998",
        "test": "d222577776888ed0126807eeea3f90e861121fe7fb8a2d5ab160df79abb82971",
    }
