"""NeuInfer: the network as printed, the shortcut for candidates, and what they promise."""

import math
from typing import Any, ClassVar

import pytest
import torch
from contracts.info import info_of
from contracts.model import ModelContract, asking
from models.pairs.small import INFO, facts, ids_of, randomized, whole_scores
from reference.pairs import neuinfer_scores

from nary.facts import Fact, FactTable, Vocabulary
from nary.facts.layout import entity_columns, num_qualifiers
from nary.models.base import DatasetInfo, Kind
from nary.models.batch import Batch, Group
from nary.models.pairs import base, neuinfer, sums
from nary.models.pairs.neuinfer import NeuInfer, NeuInferSettings, PrimaryPair

SMALL: dict[str, Any] = {"embedding_dim": 4, "fcn_dim": 8}
PRIMARY = ["given", "most-distinct"]


class TestContract(ModelContract):
    name = "neuinfer"
    settings = SMALL
    loss = "corruption_bce"
    learns: ClassVar[dict[str, Any] | None] = {
        "training__epochs": 300,
        "training__batch_size": 20,
        "training__learning_rate": 0.01,
        "training__weight_decay": 0.0,
        "loss__num_negatives": 10,
        "loss__value_fraction": 0.5,
        "loss__negative_pool": "all",
        "model__embedding_dim": 16,
        "model__fcn_dim": 64,
    }


class TestContractOfMostDistinct(ModelContract):
    name = "neuinfer"
    settings: ClassVar[dict[str, Any]] = SMALL | {"primary": "most-distinct"}
    depends_on_facts = True
    loss = "corruption_bce"
    order_free = False  # of two values of one attribute only one may be in the triple: the first


def made(**changed: Any) -> NeuInfer:
    model = NeuInfer(NeuInferSettings(**(SMALL | changed)), INFO)
    assert isinstance(randomized(model), NeuInfer)
    return model


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_whole_facts_have_the_probability_that_is_printed(layers: int) -> None:
    model = made(num_layers=layers, validity_weight=0.3)
    for ids in ids_of(facts()):
        expected = neuinfer_scores(model, ids).detach()
        assert len(expected.unique()) == len(expected)
        torch.testing.assert_close(model.fact_scores(ids).detach().sigmoid(), expected, rtol=1e-10, atol=1e-12)


def test_the_objective_is_the_published_loss() -> None:
    """softplus(-score) = -log p for a fact, softplus(score) = -log (1 - p) for a corruption."""
    model = made()
    for ids in ids_of(facts()):
        scores = model.fact_scores(ids).detach()
        for score, p in zip(scores, neuinfer_scores(model, ids).tolist(), strict=True):
            assert torch.nn.functional.softplus(-score).item() == pytest.approx(-math.log(p), rel=1e-9)
            assert torch.nn.functional.softplus(score).item() == pytest.approx(-math.log(1 - p), rel=1e-9)


@pytest.mark.parametrize("primary", PRIMARY)
@pytest.mark.parametrize("kind", ["entity", "relation"])
@pytest.mark.parametrize("size", [1, 10, 1 << 20])
def test_all_candidates_score_what_the_whole_facts_score(
    primary: str, kind: Kind, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((base, "_PART"), (neuinfer, "_BLOCK"), (neuinfer, "_WHOLE"), (sums, "_BLOCK")):
        monkeypatch.setattr(module, name, size)
    model, batch = made(primary=primary), asking(facts(), kind)
    assert {group.ids.shape[1] for group in batch.groups} == {3, 5, 7, 9}
    torch.testing.assert_close(model.score(batch, kind), whole_scores(model, batch, kind), rtol=1e-10, atol=1e-10)


def test_equal_triples_are_told_apart_by_their_qualifiers() -> None:
    model = made()
    ids = torch.tensor([[0, 1, 2, 3, 4], [0, 1, 2, 3, 5], [0, 1, 6, 3, 4]])
    batch = Batch([Group(ids, torch.full((3,), 1))])
    scores = model.score(batch, "entity")
    assert len(torch.unique(scores, dim=0)) == 3
    torch.testing.assert_close(scores, whole_scores(model, batch, "entity"))


def test_mixtures_far_from_even_stay_exact() -> None:
    model = made(validity_weight=0.25)
    logits = torch.tensor([[200.0, -200.0], [-200.0, 200.0], [-200.0, -210.0], [200.0, 210.0]])
    found = model._mixed(*logits.unbind(1))
    expected = [math.log(1 / 3), math.log(3), -200 + math.log(0.25 + 0.75 * math.exp(-10))]
    assert found[:3].tolist() == pytest.approx(expected)
    assert found[3].item() == pytest.approx(200 - math.log(0.25 + 0.75 * math.exp(-10)))


def test_a_small_compatibility_is_seen_beside_a_sure_triple() -> None:
    """In single precision both would be as likely as the triple alone makes them."""
    model = made().float()
    found = model._mixed(torch.full((2,), 20.0), torch.tensor([-20.0, -21.0]))
    assert found[0] > found[1]
    assert model.fact_scores(ids_of(facts((3,)))[0]).dtype == torch.float64


@pytest.mark.parametrize(
    ("settings", "info", "millions"),
    [
        ({}, info_of(28645, 501, 6), 3.6),  # JF17K
        ({"num_layers": 1, "fcn_dim": 1000, "validity_weight": 0.3}, info_of(47765, 193, 9), 5.3),  # WikiPeople
    ],
)
def test_models_are_as_large_as_published(settings: dict[str, Any], info: DatasetInfo, millions: float) -> None:
    model = NeuInfer(NeuInferSettings(**settings), info)
    assert round(sum(parameter.numel() for parameter in model.parameters()) / 1e6, 1) == millions


def test_first_weights_are_as_published() -> None:
    torch.manual_seed(0)
    model = NeuInfer(NeuInferSettings(), info_of(1000, 100, 3))
    for table in (model.entity, model.relation):
        assert table.abs().max() <= 0.1  # 1 / sqrt(100)
        assert table.std().item() == pytest.approx(0.1 / 3**0.5, rel=0.02)
    (second,) = model.deeper
    layers = (model.first, second, model.validity, model.relate, model.compatibility)
    assert [tuple(layer.weight.shape) for layer in layers] == [(200, 300), (100, 200), (1, 100), (1200, 500), (1, 1200)]
    for layer in layers:
        bound = (6 / sum(layer.weight.shape)) ** 0.5
        assert bound * 0.9 < layer.weight.abs().max() <= bound
        assert not layer.bias.any()


# Which two entities make the triple

_FACTS = [
    Fact("x", "r", "a", [("p", "c")]),
    Fact("x", "r", "a", [("p", "d")]),
    Fact("y", "r", "a", [("p", "e")]),
    Fact("y", "r", "a", [("p", "e"), ("q", "c")]),
    Fact("x", "s", "a"),
    Fact("x", "s", "b"),
]
_VOCABULARY = Vocabulary.of(["a", "b", "c", "d", "e", "x", "y"], ["p", "q", "r", "s"])
P, Q, R, S = (_VOCABULARY.relation(name) for name in "pqrs")
A, B, C, D, E, X, Y = (_VOCABULARY.entity(name) for name in "abcdexy")


def primary() -> PrimaryPair:
    """r has 2 subjects and 1 object, s 1 and 2; p has 3 values and q 1."""
    return PrimaryPair(FactTable.from_facts(_FACTS, _VOCABULARY), 4)


def test_distinct_entities_are_counted_by_role() -> None:
    expected = torch.zeros(12, dtype=torch.int64)
    expected[[R, 4 + R, S, 4 + S, 8 + P, 8 + Q]] = torch.tensor([2, 1, 1, 2, 3, 1])
    assert torch.equal(primary().counts, expected)


def test_the_two_slots_with_the_most_come_first() -> None:
    arranged = primary().arranged
    assert arranged(torch.tensor([[S, X, B]])).tolist() == [[S, B, X]]
    assert arranged(torch.tensor([[R, X, A, P, C]])).tolist() == [[R, C, X, 8 + R, A]]  # the object of r, as a value
    assert arranged(torch.tensor([[S, X, B, P, C]])).tolist() == [[S, C, B, 4 + S, X]]  # the subject of s


def test_slots_with_equally_many_stay_in_order() -> None:
    arranged = primary().arranged
    assert arranged(torch.tensor([[R, X, A, Q, C]])).tolist() == [[R, X, A, Q, C]]
    assert arranged(torch.tensor([[Q, X, A]])).tolist() == [[Q, X, A]]  # no fact of this relation was seen
    turned = arranged(torch.tensor([[R, X, A, Q, P, C, E], [R, X, A, P, Q, E, C]]))
    assert torch.equal(turned[0], turned[1])


def test_what_is_asked_for_moves_with_its_slot() -> None:
    pair = PrimaryPair(facts(), INFO.num_relations)
    moved = 0
    for ids in ids_of(facts()):
        for column in entity_columns(num_qualifiers(ids.shape[1])):
            marked = ids.clone()
            marked[:, column] = 99
            turned = pair.arranged_group(Group(marked, torch.full((len(ids),), column)))
            assert (turned.answers == 99).all()
            assert ((turned.ids == 99).sum(1) == 1).all()
            moved += int((turned.columns != column).sum())
    assert moved
