"""How many parameters the models have, and how these start and are kept."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from contracts.info import info_of
from models.tuples.small import INFO, build, facts, groups, make
from models.tuples.test_schemas import table_of

from nary.facts import FactTable
from nary.facts.layout import OBJECT
from nary.models.batch import Batch, Group
from nary.models.tuples.base import TupleModel
from nary.models.tuples.m_transh import MTransH


def count(name: str, sizes: tuple[int, int, int], schemas: list[list[int]], **settings: Any) -> int:
    with torch.device("meta"):
        model = build(name, info_of(*sizes, table_of(*schemas)), **settings)
    return sum(parameter.numel() for parameter in model.parameters())


def one_arity(relations: int, arity: int) -> list[list[int]]:
    return [[relation] * (arity - 1) for relation in range(relations)]


JF17K_3 = (11541, 104, 3), one_arity(104, 3)
JF17K_4 = (6536, 23, 4), one_arity(23, 4)
JF17K = (28645, 322, 6), [[relation] * (1 + relation % 5) for relation in range(322)]
JF17K_OF_HYPE = (29177, 327, 6), [[relation] * (1 + relation % 5) for relation in range(327)]


@pytest.mark.parametrize(
    ("name", "data", "settings", "millions"),
    [
        ("getd", JF17K_3, {}, 1.1),
        ("getd", JF17K_4, {"embedding_dim": 25, "rank": 40}, 0.4),
        ("n-tucker", JF17K_3, {}, 6.8),
        ("n-tucker", JF17K_4, {"embedding_dim": 25}, 9.9),
        ("ram", JF17K, {}, 2.9),
        ("rae", JF17K, {}, 3.0),
        ("hype", JF17K_OF_HYPE, {}, 6.0),
    ],
)
def test_models_are_as_large_as_published(
    name: str, data: tuple[tuple[int, int, int], list[list[int]]], settings: dict[str, Any], millions: float
) -> None:
    assert round(count(name, *data, **settings) / 1e6, 1) == millions


def test_n_cp_has_a_table_for_each_slot() -> None:
    assert count("n-cp", *JF17K_3) == (3 * 11541 + 104) * 50


def started(name: str, **settings: Any) -> TupleModel:
    schemas = ([relation, *range(relation % 3)] for relation in range(50))
    return build(name, info_of(4000, 50, 4, table_of(*schemas)), **settings)


def test_first_values_follow_from_the_seed_alone() -> None:
    """Those of entities do not depend on which schemas there are."""
    first, again = build("m-distmult", INFO), build("m-distmult", INFO)
    for name, parameter in first.named_parameters():
        assert torch.equal(again.state_dict()[name], parameter)
    other = build("m-distmult", replace(INFO, facts=facts((3,))))
    assert torch.equal(other.entity, first.entity)
    assert not torch.equal(first.state_dict()["relation"][0], first.entity[0])


@pytest.mark.parametrize(
    ("name", "parameter", "spread"),
    [
        ("getd", "entity", 1e-3),
        ("getd", "relation", 1e-3),
        ("getd", "ring_3", 0.1 / 3**0.5),
        ("m-distmult", "entity", (2 / 4200) ** 0.5),
        ("hype", "entity", (2 / 4200) ** 0.5),
        ("m-cp", "entity", (2 / 4034) ** 0.5),
        ("ram", "entity", (2 / 4100) ** 0.5),
        ("rae", "network.0.weight", 0.88),  # of a normal distribution cut off at two deviations
    ],
)
def test_weights_start_as_published(name: str, parameter: str, spread: float) -> None:
    found = dict(started(name).named_parameters())[parameter].detach()
    assert abs(found.mean()) < 0.1 * spread
    assert abs(found.std() / spread - 1) < 0.03


def lengths(model: TupleModel, name: str) -> torch.Tensor:
    return getattr(model, name).detach().norm(dim=1)


@pytest.mark.parametrize("variant", ["published", "hype"])
def test_vectors_of_m_transh_start_with_unit_length(variant: str) -> None:
    model = started("m-transh", variant=variant)
    for name in ("entity", "normal", "bias"):
        torch.testing.assert_close(lengths(model, name), torch.ones(len(getattr(model, name))))
    assert (model.entity >= 0).all() == (variant == "published")


def test_normals_biases_and_weights_of_m_transh_are_brought_back_to_unit_length() -> None:
    model, free = started("m-transh"), started("m-transh", variant="hype")
    for one in (model, free):
        with torch.no_grad():
            for parameter in one.parameters():
                parameter *= 3
    entities, before = model.entity.clone(), {key: value.clone() for key, value in free.state_dict().items()}
    model.post_step()
    free.post_step()
    for name in ("normal", "bias", "weight"):
        found = lengths(model, name)
        torch.testing.assert_close(found, torch.ones_like(found))
    slots = torch.arange(4) < model.schemas.arities[:, None]
    assert torch.equal(model.weight != 0, slots)  # type: ignore[operator]
    assert torch.equal(model.entity, entities)
    assert all(torch.equal(value, before[key]) for key, value in free.state_dict().items())


def test_the_penalties_of_m_transh_by_hand() -> None:
    model = make("m-transh", table_of([0], [1], [2]), info_of(9, 6, 3), embedding_dim=2)
    assert isinstance(model, MTransH)
    with torch.no_grad():
        own = model.schemas.keys[:, 0]
        model.normal.copy_(torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])[own])
        model.bias.copy_(torch.tensor([[0.5, 0.0], [0.05, 1.0], [1.0, -1.0]])[own])  # 0.25, 0.0025, 1
        model.weight.copy_(torch.tensor([[0.7, 0.6, 9.0], [0.9, -0.8, 9.0], [-2.0, 0.5, 9.0]])[own])  # 1.3, 0.1, -1.5
    ids = torch.tensor([[0, 3, 4], [1, 3, 4], [2, 3, 4], [2, 4, 3]])
    penalty = model.extra_loss(Batch([Group(ids, torch.ones(4, dtype=torch.int64))]))
    assert penalty is not None
    assert penalty.item() == pytest.approx((1e-3 * (0.24 + 2 * 0.99) + 1.3**2 + 2 * 1.5**2) / 4)
    assert make("m-transh", variant="hype").extra_loss(Batch(groups(facts()))) is None


@pytest.mark.parametrize("name", ["getd", "n-tucker"])
def test_a_single_fact_can_be_trained_on(name: str) -> None:
    model = make(name).train()
    ids = torch.from_numpy(facts((2,), 1).blocks[0].ids.astype(np.int64))
    assert model.encode(Batch([Group(ids, torch.tensor([1]))])).isfinite().all()


MULTILINEAR = ("m-distmult", "m-cp", "n-cp", "hsimple")


@pytest.mark.parametrize("name", MULTILINEAR)
def test_embeddings_start_around_their_mean(name: str) -> None:
    shifted, plain = build(name, INFO, init_mean=0.5), build(name, INFO)
    torch.testing.assert_close(shifted.entity - 0.5, plain.entity)
    assert torch.equal(shifted.get_parameter("relation"), plain.get_parameter("relation"))


@pytest.mark.parametrize("name", MULTILINEAR)
def test_embeddings_around_a_mean_learn_from_one_element_at_a_time(name: str) -> None:
    """The object is the successor of the subject, whatever the two values are; most pairs of values are unseen."""
    size = 8
    subject, first, second = (grid.ravel() for grid in np.indices((size,) * 3))
    zeros, ones = np.zeros_like(subject), np.ones_like(subject)
    heads = np.stack([zeros, subject, size + (subject + 1) % size], 1)
    pairs = np.stack([zeros, 2 * size + first, ones, 3 * size + second], 1)
    seen = np.random.default_rng(0).random(len(heads)) < 0.1
    table, unseen = (
        FactTable.from_columns(
            heads[chosen].astype(np.int32), 2 * ones[chosen], pairs[chosen].reshape(-1, 2).astype(np.int32)
        )
        for chosen in (seen, ~seen)
    )
    right = {mean: share_right(name, table, unseen, mean) for mean in (0.0, 0.5)}
    assert right[0.5] > 0.95 > right[0.0] + 0.2


def share_right(name: str, table: FactTable, unseen: FactTable, mean: float) -> float:
    """The share of unseen facts whose object is the best candidate, after training on ``table``."""
    model = build(name, info_of(32, 2, 4, table), embedding_dim=32, dropout=0.0, init_mean=mean)
    optimizer = torch.optim.Adam(model.parameters(), 0.01)

    def objects(facts: FactTable) -> tuple[torch.Tensor, torch.Tensor]:
        ids = torch.from_numpy(facts.blocks[0].ids.astype(np.int64))
        return model.score(Batch([Group(ids, torch.full((len(ids),), OBJECT))]), "entity"), ids[:, OBJECT]

    for _ in range(100):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(*objects(table)).backward()
        optimizer.step()
    scores, answers = objects(unseen)
    return (scores.argmax(1) == answers).float().mean().item()
