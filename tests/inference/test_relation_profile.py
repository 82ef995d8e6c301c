"""How a relation is used."""

from runs.small import dataset_of

from nary.evaluation.protocol import Protocol
from nary.evaluation.report import Report
from nary.facts import Fact
from nary.inference.lookup import FactLookup
from nary.inference.profile_results import NameCount, RelationCount, SlotCounts
from nary.inference.relation_profile import RelationProfiles

PROFILES = RelationProfiles(
    FactLookup(
        dataset_of(
            train=[
                Fact("Curie", "award", "Physics", [("year", "1903"), ("with", "Pierre")]),
                Fact("Pierre", "award", "Physics", [("year", "1903")]),
                Fact("Curie", "year", "1867"),
            ],
            test=[Fact("Curie", "award", "Chemistry", [("year", "1911")])],
        )
    )
)


def test_counts_and_ranges_of_a_relation() -> None:
    profile = PROFILES.profile("AWARD", limit=1)
    assert profile.name == "award"
    assert profile.facts == {"train": 2, "test": 1}
    assert profile.arities == {3: 2, 4: 1}
    assert profile.subjects == SlotCounts(2, [NameCount("Curie", "Curie", 2)])
    assert profile.objects == SlotCounts(2, [NameCount("Physics", "Physics", 2)])
    assert profile.attributes == SlotCounts(2, [NameCount("year", "year", 3)])
    assert profile.as_attribute == 0
    assert profile.values == SlotCounts(0, [])


def test_a_relation_can_be_an_attribute_too() -> None:
    profile = PROFILES.profile("year")
    assert (sum(profile.facts.values()), profile.as_attribute) == (1, 3)
    assert profile.values.names == [NameCount("1903", "1903", 2), NameCount("1911", "1911", 1)]


def test_relations_are_listed_by_their_number_of_facts() -> None:
    listed = PROFILES.counts()
    assert listed.total == 3
    assert listed.relations == [
        RelationCount("award", "award", 3, 0),
        RelationCount("year", "year", 1, 3),
        RelationCount("with", "with", 0, 1),
    ]
    assert PROFILES.counts(limit=1, offset=1).relations == listed.relations[1:2]


def test_metrics_come_from_reports_that_have_them() -> None:
    figures = {"mrr": 0.5, "count": 2}
    metrics = {"entity": figures, "entity[relation=award]": figures, "value[relation=year]": figures}
    reports = [Report("data", "valid", Protocol(), {"entity": figures}), Report("data", "test", Protocol(), metrics)]
    assert PROFILES.profile("award", reports=reports).metrics == {"test": {"entity": figures}}
    assert PROFILES.profile("with", reports=reports).metrics == {}
