"""Evaluation from beginning to end."""

import pytest
from evaluation.toys import PLAIN, five_facts

from nary.errors import DatasetError
from nary.evaluation.evaluate import evaluate
from nary.evaluation.protocol import Protocol
from nary.facts import FactTable


def test_five_facts() -> None:
    data, model = five_facts()
    report, ranks = evaluate(model, data)
    assert (report.dataset, report.split, len(ranks)) == ("five", "test", 10)
    assert report.metrics["entity"]["mr"] == pytest.approx(26.5 / 6)  # ranks 5.5, 4, 3, 5.5, 5.5, 3
    assert len(report.notes) == 1
    assert "A collapsed model?" in report.notes[0]


def test_only_the_splits_of_the_filter() -> None:
    data, model = five_facts()  # all that is filtered by slots is Ada likes Cy, of train
    assert evaluate(model, data)[1].filtered.sum() == 1
    assert evaluate(model, data, protocol=Protocol(filter_splits=["test", "valid"]))[1].filtered.sum() == 0
    assert evaluate(model, data, "train", Protocol(filter_splits=["test"]))[1].filtered.sum() == 1  # Ada likes Ben


def test_candidates() -> None:
    data, model = five_facts()
    report, ranks = evaluate(model, data, protocol=Protocol(candidates="subject-object"))
    assert len(ranks) == 8
    assert report.notes[0] == "2 queries are left out: their answer is no candidate."
    assert "value" not in report.metrics


def test_other_facts() -> None:
    data, model = five_facts()
    report, ranks = evaluate(model, data, table=FactTable.from_facts([PLAIN], data.vocabulary))
    assert ranks.rank().tolist() == [3, 5.5, 3]
    assert "entity[arity>2]" not in report.metrics
    report, ranks = evaluate(model, data, table=FactTable([]))
    assert (report.metrics, report.notes) == ({}, ["There was nothing to ask."])


def test_a_split_that_is_not_there() -> None:
    data, model = five_facts()
    with pytest.raises(DatasetError, match="five has no valid split"):
        evaluate(model, data, "valid")
