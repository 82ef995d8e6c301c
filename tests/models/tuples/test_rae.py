"""RAE: what its network learns from, and how it is learned: at the same time as the distance, or in turns with it."""

from pathlib import Path
from typing import Any

import pytest
import torch
from contracts.model import train_in_parts
from models.tuples.small import SETTINGS, facts, groups, make
from runs.small import small_data, small_recipe, train_in, weights

from nary.models.batch import Batch, Group
from nary.models.tuples.m_transh import MTransH
from nary.models.tuples.rae import RAE


def rae(**settings: Any) -> RAE:
    model = make("rae", **settings)
    assert isinstance(model, RAE)
    return model


def masked(ids: list[int], column: int, times: int = 1) -> Batch:
    return Batch([Group(torch.tensor([ids]).repeat(times, 1), torch.full((times,), column))])


def pairs_of(model: RAE, batch: Batch) -> list[tuple[int, ...]]:
    """The true pairs that the network is asked about: the first half of all."""
    asked: list[torch.Tensor] = []
    handle = model.network.register_forward_pre_hook(lambda _, inputs: asked.append(inputs[0]))
    with torch.no_grad():
        model.entity.copy_(torch.arange(9.0)[:, None].expand(9, 4))  # a vector says whose it is
        model.relatedness_loss(batch)
    handle.remove()
    true = asked[0][: len(asked[0]) // 2].int()
    return sorted((int(one[0]), int(one[4])) for one in true)


def test_the_network_learns_which_entities_stand_together() -> None:
    model = rae().train()
    with torch.no_grad():
        model.entity.copy_(torch.eye(9, 4))
    batch = masked([0, 0, 1], 1, 64)
    optimizer = torch.optim.Adam(model.network.parameters(), lr=0.05)
    first = model.relatedness_loss(batch).item()
    for _ in range(60):
        optimizer.zero_grad()
        loss = model.relatedness_loss(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    assert loss.item() < 0.4 < first  # a ninth of the replaced ones are what they were

    def together(*pair: int) -> float:
        return model.network(model.entity[list(pair)].flatten()).softmax(-1)[1].item()

    assert together(0, 1) > 0.7 > together(3, 1)


def test_an_epoch_has_every_pair_of_a_fact_once() -> None:
    ids = torch.tensor([[0, 1, 2, 3, 4, 5, 6]])  # entities 1, 2, 5, 6
    batch = Batch([Group(ids.repeat(4, 1), torch.tensor([1, 2, 5, 6]))])
    assert pairs_of(rae(), batch) == [(1, 2), (1, 5), (1, 6), (2, 5), (2, 6), (5, 6)]
    assert pairs_of(rae(), masked([0, 7, 8], 1)) == [(7, 8)]


def test_a_batch_without_pairs_has_a_loss_of_nothing() -> None:
    model = rae()
    loss = model.relatedness_loss(masked([0, 7, 8], 2))  # nothing stands after the last entity
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.item() == 0
    assert model.entity.grad is not None
    assert not model.entity.grad.any()


def test_the_joint_loss_is_that_of_m_transh_and_the_weighted_network() -> None:
    batch = Batch(groups(facts()))
    model = rae(relatedness=0.3)
    torch.manual_seed(1)
    related, penalty = model.relatedness_loss(batch), MTransH.extra_loss(model, batch)
    torch.manual_seed(1)
    joint = model.extra_loss(batch)
    assert penalty is not None
    assert joint is not None
    assert joint.item() == pytest.approx((0.3 * related + penalty).item())
    assert model.alternation() is None


def test_in_turns_the_objective_leaves_the_network_out() -> None:
    batch = Batch(groups(facts()))
    model = rae(learning="alternating")
    extra, penalty = model.extra_loss(batch), MTransH.extra_loss(model, batch)
    assert extra is not None
    assert penalty is not None
    assert extra.item() == penalty.item()
    assert rae(learning="alternating", variant="hype").extra_loss(batch) is None


def test_rounds_are_those_of_the_authors() -> None:
    model = rae(learning="alternating")
    alternation = model.alternation()
    assert alternation is not None
    assert [alternation.at(epoch) is None for epoch in (0, 99, 100, 114, 115, 214, 215)] == [
        *(True, True, False, False),
        *(True, True, False),
    ]
    network, entities = alternation.phases
    assert alternation.at(100) is alternation.at(109) is network
    assert alternation.at(110) is alternation.at(114) is entities
    assert (network.rate, entities.rate) == (5e-3, 1e-3)
    assert list(network.parameters) == list(model.network.parameters())
    assert list(entities.parameters) == [model.entity]


def test_runs_in_turns_resume_to_the_last_bit(tmp_path: Path) -> None:
    data = small_data()
    settings = SETTINGS["rae"] | {"learning": "alternating", "round_epochs": [2, 1, 1]}
    changed = {f"model__{key}": value for key, value in settings.items()}
    recipe = small_recipe(data, "rae", loss__name="margin", training__epochs=8, **changed)
    train_in(tmp_path / "whole", data, recipe)
    assert train_in_parts(tmp_path / "parts", data, recipe, 5) > 3
    assert weights(tmp_path / "parts") == weights(tmp_path / "whole")
