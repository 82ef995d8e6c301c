"""Evaluation from beginning to end."""

from pathlib import Path

import pytest
from evaluation.toys import PLAIN, five_facts

from nary.data.load import load
from nary.errors import DatasetError
from nary.evaluation.evaluate import evaluate
from nary.evaluation.protocol import Protocol
from nary.evaluation.queries import subjects_and_objects
from nary.facts import Fact, FactTable


def test_five_facts() -> None:
    data, model = five_facts()
    report, ranks = evaluate(model, data)
    assert (report.dataset, report.split, len(ranks)) == ("five", "test", 10)
    assert report.metrics["entity"]["mr"] == pytest.approx(26.5 / 6)  # ranks 5.5, 4, 3, 5.5, 5.5, 3
    assert len(report.notes) == 1
    assert "Has the model collapsed?" in report.notes[0]


def test_only_the_splits_of_the_filter() -> None:
    data, model = five_facts()  # all that is filtered by slots is Ada likes Cy, of train
    assert evaluate(model, data)[1].filtered.sum() == 1
    assert evaluate(model, data, protocol=Protocol(filter_splits=["test", "valid"]))[1].filtered.sum() == 0
    assert evaluate(model, data, "train", Protocol(filter_splits=["test"]))[1].filtered.sum() == 1  # Ada likes Ben


def test_candidates() -> None:
    data, model = five_facts()
    report, ranks = evaluate(model, data, protocol=Protocol(candidates="seen"))
    assert len(ranks) == 10
    assert report.notes[0] == "Subjects and objects are ranked among 4 of 6 entities."
    assert report.as_dict()["protocol"]["candidates"] == "seen"
    assert report.metrics["subject/object"]["mr"] == (4 + 3 + 4 + 2) / 4
    assert report.metrics["value"]["mr"] == (3 + 5.5) / 2
    other = FactTable.from_facts([Fact("Eve", "likes", "Ada")], data.vocabulary)
    report, ranks = evaluate(model, data, protocol=Protocol(candidates="seen"), table=other)
    assert len(ranks) == 2
    assert report.notes[1] == "1 query is left out, because the answer is not a candidate."


# Published for STARE, whose authors rank among these alone.
@pytest.mark.benchmark_data
@pytest.mark.parametrize(
    ("name", "seen", "entities"),
    [
        ("wd50k", 41_696, 47_155),
        ("wd50k_33", 31_657, 38_123),
        ("wd50k_66", 20_134, 27_346),
        ("wd50k_100", 10_874, 18_791),
    ],
)
def test_entities_seen_as_subject_or_object(benchmark_data: Path, name: str, seen: int, entities: int) -> None:
    if not (benchmark_data / name).is_dir():
        pytest.skip(f"the files of {name} are not here")
    data = load(name)
    candidates = subjects_and_objects(data.facts, len(data.vocabulary.entities))
    assert (candidates.sum(), len(candidates)) == (seen, entities)


def test_other_facts() -> None:
    data, model = five_facts()
    report, ranks = evaluate(model, data, table=FactTable.from_facts([PLAIN], data.vocabulary))
    assert ranks.rank().tolist() == [3, 5.5, 3]
    assert "entity[arity>2]" not in report.metrics
    report, ranks = evaluate(model, data, table=FactTable([]))
    assert (report.metrics, report.notes) == ({}, ["There are no queries."])


def test_a_split_that_is_not_there() -> None:
    data, model = five_facts()
    with pytest.raises(DatasetError, match="five has no valid split"):
        evaluate(model, data, "valid")
