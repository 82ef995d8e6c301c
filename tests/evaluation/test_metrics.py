"""Metrics of the five facts, worked by hand."""

import numpy as np
import pytest
from evaluation.toys import five_facts

from nary.errors import SettingError
from nary.evaluation.known_answers import KnownAnswers
from nary.evaluation.metrics import METRICS, measure, register_metric, warnings
from nary.evaluation.protocol import Protocol, Ties
from nary.evaluation.ranks import Ranks, rank
from nary.evaluation.report import Report


def five_ranks(ties: Ties = "mean") -> Ranks:
    # LONG: relation 3, subject 5-6, object 4, attributes 1-2 twice, values 3 and 5-6; PLAIN: relation 3, subject 5-6,
    # object 3 (Cy is filtered).
    data, model = five_facts()
    return rank(model, data.test, KnownAnswers([data.train, data.test], "slots"), Protocol(ties=ties))


def test_groups_and_measures() -> None:
    found = measure(five_ranks())
    assert {group: figures["count"] for group, figures in found.items()} == {
        "entity": 6,
        "entity[arity=2]": 2,
        "entity[arity>2]": 4,
        "subject/object": 4,
        "subject/object[arity=2]": 2,
        "subject/object[arity>2]": 2,
        "value": 2,
        "value[arity>2]": 2,
        "relation": 4,
        "relation[arity=2]": 1,
        "relation[arity>2]": 3,
        "primary": 2,
        "primary[arity=2]": 1,
        "primary[arity>2]": 1,
        "attribute": 2,
        "attribute[arity>2]": 2,
    }
    assert found["entity"] == pytest.approx(  # ranks 5.5, 4, 3, 5.5, 5.5, 3
        {
            "mrr": (3 / 5.5 + 2 / 3 + 1 / 4) / 6,
            "hits@1": 0,
            "hits@3": 2 / 6,
            "hits@5": 3 / 6,
            "hits@10": 1,
            "mr": 26.5 / 6,
            "count": 6,
            "optimistic": (3 / 5 + 2 / 3 + 1 / 4) / 6,
            "pessimistic": (3 / 6 + 2 / 3 + 1 / 4) / 6,
        }
    )
    assert found["subject/object"]["mr"] == (5.5 + 4 + 5.5 + 3) / 4
    assert found["subject/object[arity=2]"]["mr"] == (5.5 + 3) / 2
    assert found["value"]["mr"] == (3 + 5.5) / 2
    assert found["relation"]["mr"] == (3 + 1.5 + 1.5 + 3) / 4
    assert found["primary"]["mr"] == 3
    assert found["attribute"]["mr"] == 1.5
    assert found["attribute"]["hits@1"] == 0  # a tie for the first place is not the first place


def test_ties_as_the_protocol_says() -> None:
    assert measure(five_ranks("optimistic"))["attribute"]["mrr"] == 1
    assert measure(five_ranks("optimistic"))["attribute"]["hits@1"] == 1
    assert measure(five_ranks("pessimistic"))["attribute"]["mrr"] == 0.5
    assert measure(five_ranks("pessimistic"))["attribute"]["optimistic"] == 1


def test_by_arity_and_by_relation() -> None:
    found = measure(five_ranks(), by_arity=True, relations=["likes", "sees", "with"])
    more = set(found) - set(measure(five_ranks()))
    groups = ("entity", "subject/object", "value", "relation", "primary", "attribute")
    assert more == {f"{group}[{part}]" for group in groups for part in ("arity=4", "relation=likes")}
    assert found["value[arity=4]"] == found["value"]
    assert found["entity[relation=likes]"] == found["entity"]


def test_a_gap_between_the_best_and_the_worst_order_of_ties_is_told() -> None:
    (note,) = warnings(measure(five_ranks()))
    assert note == (
        "Many candidates have the same score: the MRR of attribute is 0.500 if the answer loses all ties and "
        "1.000 if it wins them. Has the model collapsed?"
    )
    assert warnings({"entity": {"mrr": 0.5, "optimistic": 0.505, "pessimistic": 0.496}}) == []
    assert warnings({}) == []


def test_a_registered_metric_is_in_every_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(METRICS, "_registered", dict(METRICS._registered))
    register_metric("median")(lambda ranks: float(np.median(ranks)))
    results = measure(five_ranks())
    assert results["entity"]["median"] == (4 + 5.5) / 2  # ranks 3, 3, 4, 5.5, 5.5, 5.5
    report = Report("five", "test", Protocol(), results)
    assert report.columns[-3:] == ["median", "optimistic", "pessimistic"]
    assert "Median" in report.table()
    with pytest.raises(SettingError, match="a metric named 'mrr' exists already"):
        register_metric("mrr")(len)


def test_a_metric_that_a_stored_report_lacks_is_absent() -> None:
    report = Report(
        "five", "test", Protocol(), {"entity": {"mrr": 0.5, "gone": 1.0}, "value": {"mrr": 0.25, "mr": 4.0}}
    )
    assert report.columns == ["mrr", "mr", "gone"]
    assert [line.split() for line in report.table().splitlines()[2:4]] == [
        ["entity", "0.500", "1.000"],
        ["value", "0.250", "4.000"],
    ]
    assert report.csv().splitlines()[1] == "five,test,entity,0.5,,1.0"
