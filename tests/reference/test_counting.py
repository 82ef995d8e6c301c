"""Counting against numbers worked out by hand, and as what the default training must beat."""

import polars as pl
import pytest

import nary
from nary.data.company import generate_property_graph
from nary.data.dataset import Dataset
from nary.data.transforms.splits import split_dataset
from nary.facts import Fact, parse_fact
from reference.counting import PRIOR, Counting, counted_mrr, object_mrr

EDGES = 2200
MINUTES = 0.25


def facts(*texts: str) -> list[Fact]:
    return [parse_fact(text) for text in texts]


def test_without_a_hint_the_frequency_of_an_object_counts() -> None:
    counting = Counting(facts("a | in | x", "b | in | x", "c | in | y", "c | of | z"))
    assert counting.scores(Fact("new", "in", "?")) == pytest.approx({"x": 2 / (3 + PRIOR), "y": 1 / (3 + PRIOR)})


def test_a_given_value_speaks_for_the_objects_it_went_with() -> None:
    counting = Counting(facts("a | in | x | since: 1", "b | in | y | since: 2", "c | in | y | since: 2"))
    scores = counting.scores(Fact("new", "in", "?", (("since", "2"),)))
    by_frequency, by_value = 2 / (3 + PRIOR), 2 / (2 + PRIOR)
    assert scores["y"] == pytest.approx(1 - (1 - by_frequency) * (1 - by_value))
    assert scores["x"] == pytest.approx(1 / (3 + PRIOR))


def test_other_facts_of_the_subject_speak_in_both_directions() -> None:
    counting = Counting(
        facts("a | works at | f", "a | in | x", "b | works at | f", "g | hired | c", "c | in | y", "g | hired | d")
    )
    frequent = 1 - 1 / (2 + PRIOR)  # of x and of y
    beside_f = 1 - 1 / (1 + PRIOR)  # of x, for people who work at f; of y, for those whom g has hired
    assert counting.scores(Fact("b", "in", "?")) == pytest.approx({"x": 1 - frequent * beside_f, "y": 1 - frequent})
    assert counting.scores(Fact("d", "in", "?")) == pytest.approx({"x": 1 - frequent, "y": 1 - frequent * beside_f})


def test_a_fact_is_no_hint_of_itself() -> None:
    counting = Counting(facts("a | in | x"))
    assert counting.together.keys() == {("in", ("given", "subject", "a"))}


def test_ranks_are_filtered_and_ties_at_their_mean() -> None:
    splits = {
        "train": facts("a | in | x", "b | in | x", "c | in | y", "a | of | z"),
        "test": facts("a | in | y", "b | in | z"),
    }
    # For a, x is known and left out, so y is first. For b, x is known, too; y comes before z, which is tied with a, b
    # and c.
    assert counted_mrr(Dataset.from_facts("small", splits)) == pytest.approx({"in": (1 + 1 / (1 + 1 + 3 / 2)) / 2})


@pytest.mark.slow
def test_the_default_training_beats_frequency_and_counting() -> None:
    """Dates and amounts are among what is given, as ``nary import edges.csv --nodes nodes.csv`` reads them."""
    graph = generate_property_graph(EDGES, seed=0)
    edges = graph.edges.with_columns(pl.col("date").str.to_date())
    dataset = split_dataset(Dataset.from_dataframe(edges, nodes=graph.nodes, name="company"))
    trained = object_mrr(nary.train(dataset, model="auto", minutes=MINUTES, progress=False).model)
    for baseline in (counted_mrr(dataset), object_mrr(nary.train(dataset, model="frequency", progress=False).model)):
        assert baseline.keys() == trained.keys()
        assert {name: mrr for name, mrr in baseline.items() if mrr >= trained[name]} == {}
