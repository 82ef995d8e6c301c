"""Numbers and dates as answers: medians, intervals and errors, worked by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.data.dataset import Dataset
from nary.evaluation.evaluate import evaluate
from nary.evaluation.guesses import ALL_SLOTS, Guesses, measure_guesses
from nary.evaluation.values import ValueRange, ValueRanges
from nary.facts import Fact
from nary.facts.layout import OBJECT, first_value
from nary.models.base import DatasetInfo
from nary.models.frequency import Frequency

# Salaries of four people; what the firm is paid is something else.
_PAID = {"Ann": 10, "Bob": 20, "Cem": 20, "Dua": 60}
_TRAIN = [Fact(name, "works at", "Firm", [("amount", f"{pay}^^number")]) for name, pay in _PAID.items()]
_TRAIN += [Fact("Firm", "sells", "Lamp", [("amount", "900^^number")]), Fact("Ann", "born in", "1990^^date")]
_TEST = [Fact("Eve", "works at", "Firm", [("amount", "30^^number")]), Fact("Eve", "born in", "Rome")]


@pytest.fixture
def data() -> Dataset:
    return Dataset.from_facts("pay", {"train": _TRAIN, "test": _TEST})


def slot_of(ranges: ValueRanges, data: Dataset, relation: str, attribute: str | None = None) -> int:
    relations = data.vocabulary.relation_ids
    if attribute is None:
        return int(ranges.slots(np.array([[relations[relation], 0, 0]]), OBJECT)[0])
    return int(ranges.slots(np.array([[relations[relation], 0, 0, relations[attribute], 0]]), first_value(1))[0])


def test_the_values_of_a_slot(data: Dataset) -> None:
    ranges = ValueRanges(data.train, data.vocabulary)
    slot = slot_of(ranges, data, "works at", "amount")
    pay = ranges.of(slot)
    assert pay is not None
    assert pay.values.tolist() == [10, 20, 60]
    assert [data.vocabulary.entities[i] for i in pay.ids] == ["10^^number", "20^^number", "60^^number"]
    assert (pay.median, pay.spread) == (20, (10 + 0 + 0 + 40) / 4)
    assert ranges.name(slot) == "amount of works at"
    sold = ranges.of(slot_of(ranges, data, "sells", "amount"))
    assert sold is not None
    assert (sold.values.tolist(), sold.spread) == ([900], 0)
    born = slot_of(ranges, data, "born in")
    assert ranges.of(born) is not None
    assert ranges.name(born) == "object of born in"


def test_slots_of_entities_have_no_values(data: Dataset) -> None:
    ranges = ValueRanges(data.train, data.vocabulary)
    assert ranges.of(slot_of(ranges, data, "works at")) is None
    assert ranges.of(slot_of(ranges, data, "sells", "born in")) is None  # nothing stands there
    assert ValueRanges(data["test"], Dataset.from_facts("x", {"train": [Fact("a", "r", "b")]}).vocabulary).of(0) is None


def range_of(values: list[float]) -> ValueRange:
    return ValueRange(0, np.arange(len(values)), np.array(values), 0.0, 1.0)


def test_quantiles_by_hand() -> None:
    values = range_of([1, 2, 3, 4, 5])
    probabilities = np.array([[0.05, 0.2, 0.3, 0.3, 0.15], [1, 0, 0, 0, 0], [0.2, 0.2, 0.2, 0.2, 0.2]])
    places = values.quantiles(np.log(probabilities + 1e-30))
    assert values.values[places].tolist() == [[2, 3, 5], [1, 1, 1], [1, 3, 5]]
    assert (values.quantiles(np.log(probabilities + 1e-30) + 7) == places).all()  # scores up to a constant


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=20))
def test_the_interval_holds_its_probability(scores: list[float]) -> None:
    low, median, high = range_of(list(range(len(scores)))).quantiles(np.array([scores]))[0].tolist()
    probabilities = np.exp(scores) / np.exp(scores).sum()
    assert 0 <= low <= median <= high < len(scores)
    assert probabilities[low : high + 1].sum() >= 0.8 - 1e-9
    assert probabilities[: median + 1].sum() >= 0.5 - 1e-9
    assert probabilities[median:].sum() >= 0.5 - 1e-9


def test_errors_by_hand(data: Dataset) -> None:
    ranges = ValueRanges(data.train, data.vocabulary)
    pay, sold = slot_of(ranges, data, "works at", "amount"), slot_of(ranges, data, "sells", "amount")
    rows = [  # slot, truth, low, median, high, usual, spread
        (pay, 30.0, 10.0, 20.0, 60.0, 20.0, 12.5),
        (pay, 70.0, 10.0, 60.0, 60.0, 20.0, 12.5),
        (sold, 800.0, 900.0, 900.0, 900.0, 900.0, 0.0),
    ]
    metrics = measure_guesses(Guesses(*np.array(rows).T), ranges)
    assert list(metrics) == [ALL_SLOTS, "amount of works at", "amount of sells"]
    of_pay = {"mae": 10, "median_error": 10, "usual_mae": (10 + 50) / 2, "in_interval": 0.5, "count": 2}
    assert metrics["amount of works at"] == pytest.approx(of_pay)
    assert metrics["amount of sells"]["mae"] == 100
    assert metrics[ALL_SLOTS]["mae"] == pytest.approx(10 / 12.5)  # without slots in which all values are equal
    assert metrics[ALL_SLOTS]["count"] == 2


def test_a_report_tells_the_errors(data: Dataset) -> None:
    model = Frequency(Frequency.settings_class(), DatasetInfo.from_dataset(data))
    report, ranks = evaluate(model, data)
    assert ranks.guesses is not None
    assert len(ranks.guesses) == 1  # Rome is no date
    assert ranks.guesses.truth.tolist() == [30]
    assert report.literals["amount of works at"]["mae"] == 10
    assert "amount of works at" in report.table()
    assert "amount of works at" in report.latex()
    assert report.as_dict()["literals"]["amount of works at"]["count"] == 1


def test_reports_without_literals_are_as_before() -> None:
    facts = [Fact("a", "r", "b"), Fact("b", "r", "a")]
    data = Dataset.from_facts("plain", {"train": facts, "test": [Fact("a", "r", "a")]})
    report, ranks = evaluate(Frequency(Frequency.settings_class(), DatasetInfo.from_dataset(data)), data)
    assert ranks.guesses is None
    assert "literals" not in report.as_dict()
    assert "iteral" not in report.table()


def test_fits_by_hand() -> None:
    values = range_of([float(number) for number in range(160)])  # bins of ten
    scores = np.zeros((4, 160))
    scores[:, :10] = 50.0  # the first ten are certain
    fit, lift = values.fits(scores, np.array([3.5, 155.0, -1.0, 1e6]))
    certain, doubt = 0.98 + 0.02 / 16, 0.02 / 16
    just_outside = certain * np.exp(-16 / 159)  # 1 below a range of 159
    entropy = -certain * np.log(certain) - 15 * doubt * np.log(doubt)
    assert fit == pytest.approx(np.minimum(0, np.log([certain, doubt, just_outside, doubt]) + entropy))
    assert lift == pytest.approx(np.log([certain, doubt, just_outside, doubt]) - np.log(1 / 16))


def test_a_value_fits_less_the_farther_it_is_outside() -> None:
    values = range_of([float(number) for number in range(160)])
    fit, _ = values.fits(np.zeros((4, 160)), np.array([159.0, 160.0, 170.0, 1e9]))
    assert (np.diff(fit) < 0).all()
    assert fit[1] == pytest.approx(fit[0] - 16 / 159)  # a day after the last is nearly as good
    single = range_of([5.0])
    assert np.diff(single.fits(np.zeros((2, 1)), np.array([5.0, 6.0]))[0]) < 0


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=30), st.floats(-10, 40))
def test_values_in_one_bin_fit_alike(scores: list[float], value: float) -> None:
    values = range_of([float(number) for number in range(len(scores))])
    fit, lift = values.fits(np.array([scores, scores]), np.array([value, value + 1e-9]))
    assert (fit <= 0).all()
    assert np.isfinite(fit).all()
    assert np.isfinite(lift).all()
