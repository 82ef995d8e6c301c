"""Plausibility: by hand with a model whose probabilities are shares of facts, and ranks as an evaluation gives them."""

import math
from typing import Any

import numpy as np
import pytest
from inference.laureates import laureates
from inference.memory import remembering
from runs.small import dataset_of, small_data, small_run

import nary
from nary.errors import DataError
from nary.evaluation.protocol import Protocol
from nary.facts import Fact, FactTable
from nary.inference.corruption import Corruption, rows_of_table, table_of_rows
from nary.runs import TrainedModel

TRAIN = [
    Fact("Ada", "likes", "Ben"),
    Fact("Ada", "likes", "Cy"),
    Fact("Ada", "likes", "Dee"),
    Fact("Ada", "likes", "Eve"),
    Fact("Ben", "sees", "Ada"),
]
DATA = dataset_of(train=TRAIN)


def test_one_of_several_right_answers_is_not_odd() -> None:
    (found,) = remembering(DATA).score([TRAIN[0]])
    # the object has a chance of 1/4, but four objects are equally good: probability times perplexity is 1
    assert found.known
    assert found.plausibility == pytest.approx(1, abs=1e-5)
    chances = {element.position: element.probability for element in found.elements}
    assert chances == pytest.approx({"subject": 1, "relation": 1, "object": 1 / 4}, abs=1e-5)
    assert {element.rank for element in found.elements} == {1}  # the other three are known, so they are filtered


def test_a_wrong_element_is_found() -> None:
    (found,) = remembering(DATA).score([Fact("Ben", "sees", "Cy")])
    assert not found.known
    assert found.plausibility < 1e-6
    assert found.elements[0].position == "object"
    assert found.elements[0].name == "Cy"
    assert found.elements[0].probability == pytest.approx(0, abs=1e-6)
    assert found.elements[0].rank == 2.5  # Ada is known, so it is filtered; the other four are level
    assert found.elements[0].label == "Cy"


def test_the_json_form() -> None:
    (found,) = remembering(DATA).score([Fact("ben", "sees", "ADA")])
    shape = found.as_dict()
    assert (shape["fact"], shape["known"]) == ("Ben | sees | Ada", True)
    assert shape["plausibility"] == pytest.approx(1)
    assert {frozenset(element) for element in shape["elements"]} == {
        frozenset({"position", "name", "label", "rank", "probability", "fit"})
    }


def test_facts_keep_their_order_and_unknown_names_are_refused() -> None:
    predictor = remembering(DATA)
    facts = [TRAIN[4], TRAIN[0], Fact("Cy", "sees", "Ada")]
    assert [found.fact for found in predictor.score(facts)] == [str(fact) for fact in facts]
    assert predictor.score([]) == []
    with pytest.raises(DataError, match="unknown entity 'Zoe'"):
        predictor.score([Fact("Zoe", "sees", "Ada")])


@pytest.fixture(scope="module")
def gran(tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    return small_run(tmp_path_factory.mktemp("gran") / "run", dataset=small_data(200))


def test_ranks_and_probabilities_are_those_of_evaluation_and_prediction(gran: TrainedModel) -> None:
    table, names = gran.dataset.test, gran.dataset.vocabulary
    _, ranks = gran.rank(protocol=Protocol(filter="order-free", given=9))  # all are given, but there may be more
    found = gran.predictor.score_table(table)
    assert all(one.known for one in found)
    mine = sorted(element.rank for one in found for element in one.elements)
    np.testing.assert_allclose(mine, np.sort(ranks.rank()))
    for fact, one in zip(table.facts(names), found, strict=True):
        assert one.fact == str(fact)
        assert len(one.elements) == 2 * fact.arity - 1
        assert 0 <= one.plausibility <= 1
    fact = next(table.facts(names))
    for element in found[0].elements:
        at = next(position for position in fact.elements() if str(position) == element.position)
        answers = gran.predict_many([fact.query(at)], k=10_000)[0].answers
        assert element.probability == pytest.approx(
            next(answer.probability for answer in answers if answer.name == element.name), abs=1e-6
        )
        assert not math.isnan(element.rank)


def test_scoring_reports_how_far_it_is(gran: TrainedModel) -> None:
    seen: list[tuple[int, int | None]] = []
    gran.predictor.score_table(gran.dataset.test, lambda done, total: seen.append((done, total)))
    elements = sum((2 * arity - 1) * facts for arity, facts in gran.dataset.test.arities.items())
    assert seen[-1] == (elements, elements)


def test_nothing_to_score(gran: TrainedModel) -> None:
    assert gran.predictor.score_table(FactTable([])) == []


EINSTEIN = "Albert Einstein | award received"


@pytest.fixture(scope="module")
def laureate_model() -> TrainedModel:
    """Trained with partial context; it has seen Einstein's field, not his prize."""
    settings: dict[str, Any] = {
        "num_layers": 2,
        "num_heads": 4,
        "hidden_dim": 32,
        "ffn_dim": 64,
        "dropout": 0.1,
        "epochs": 60,
        "batch_size": 64,
        "learning_rate": 0.01,
        "weight_decay": 0.0,
        "precision": "fp32",
        "seed": 1,
        "entity_label_smoothing": 0.0,
        "relation_label_smoothing": 0.0,
        "qualifier_dropout": 0.5,
        "merge_queries": True,
        "shuffle": "instances",
        "relation_fraction": 1.0,
        "role_embeddings": "none",
        "pair_edges": False,
        "partial_embedding": False,
    }
    return nary.train(laureates(), model="gran", recipe="gran/nobel", **settings).model


def test_a_wrong_prize_is_implausible_and_the_right_one_plausible(laureate_model: TrainedModel) -> None:
    wrong, right, short = laureate_model.score(
        [
            f"{EINSTEIN} | Nobel Peace Prize | point in time: 1921",
            f"{EINSTEIN} | Nobel Prize in Physics | point in time: 1921",
            f"{EINSTEIN} | Nobel Prize in Physics",
        ]
    )
    assert wrong.plausibility < 0.5 < min(right.plausibility, short.plausibility)
    assert (wrong.known, right.known, short.known) == (False, True, True)
    assert right.stored is not None
    assert right.stored.split == "valid"
    assert all(one.calibrated for one in (wrong, right, short))


def test_the_best_answer_filled_in_is_plausible(laureate_model: TrainedModel) -> None:
    people = [f"{field} person {number}" for field in ("physics", "chemistry", "peace movement") for number in (6, 11)]
    queries = [f"{person} | award received | ?" for person in people]
    best = [one.answers[0] for one in laureate_model.predict_many(queries, k=1, known="mark")]
    filled = [query.replace("?", answer.name) for query, answer in zip(queries, best, strict=True)]
    assert all(one.plausibility > 0.5 for one in laureate_model.score(filled))


def test_plausibility_is_as_high_as_facts_are_often_true(laureate_model: TrainedModel) -> None:
    context, random = laureate_model.predictor.context, np.random.default_rng(7)
    true = rows_of_table(laureate_model.dataset.test)
    changed = [Corruption(context).corrupt(row, bool(i % 2), random) for i, row in enumerate(true * 4)]
    tables = [table_of_rows(part) for part in (true, [row for row in changed if row])]
    right, wrong = ([one.plausibility for one in laureate_model.predictor.score_table(table)] for table in tables)
    assert np.mean([high > low for high in right for low in wrong]) > 0.9
    # True and corrupted facts weigh the same: the mean plausibility is the share of true ones, a half.
    assert (np.mean(right) + np.mean(wrong)) / 2 == pytest.approx(0.5, abs=0.15)
