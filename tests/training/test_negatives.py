"""Losses against corrupted facts, by hand and against the definition."""

import math

import pytest
import torch
from contracts.info import info_of
from runs.small import dataset_of
from torch import Tensor

from nary.config import Settings
from nary.facts import Fact
from nary.models.base import DatasetInfo, Model
from nary.models.batch import Batch, Group
from nary.models.registry import MODELS
from nary.training.corruptions import Corruptions
from nary.training.negatives import negatives_loss
from nary.training.settings import TrainingSettings


class Told(Model):
    """Scores a fact by what it was told of its elements: the sum of their weights."""

    name = "told"

    def __init__(self, weights: list[float]) -> None:
        super().__init__(Settings(), info_of(len(weights), 1, 2))
        self.weights = torch.nn.Parameter(torch.tensor(weights))
        self.asked: list[Tensor] = []

    def fact_scores(self, ids: Tensor) -> Tensor:
        self.asked.append(ids)
        return self.weights[ids[:, 1]] + self.weights[ids[:, 2]]


FACT = [0, 1, 2]  # relation 0, subject 1, object 2


def batch_of(*columns: int) -> Batch:
    return Batch([Group(torch.tensor([FACT] * len(columns)), torch.tensor(columns))])


def test_corruptions_replace_the_masked_element_alone() -> None:
    model = Told([0.0] * 50)
    negatives_loss(model, batch_of(1, 2), TrainingSettings(loss="sampled_cross_entropy", negatives=20))
    by_subject, by_object = model.asked[0].view(2, 21, 3)
    assert by_subject[0].tolist() == by_object[0].tolist() == FACT
    assert by_subject[:, [0, 2]].tolist() == [[0, 2]] * 21
    assert by_object[:, [0, 1]].tolist() == [[0, 1]] * 21
    assert len(set(by_subject[1:, 1].tolist())) > 5  # drawn from all entities
    assert len(set(by_object[1:, 2].tolist())) > 5


def test_a_masked_relation_is_replaced_by_relations() -> None:
    model = Told([0.0] * 50)
    model.info = info_of(50, 7, 2)
    negatives_loss(model, batch_of(0, 1), TrainingSettings(loss="sampled_cross_entropy", negatives=60))
    by_relation, by_subject = model.asked[0].view(2, 61, 3)
    assert set(by_relation[:, 0].tolist()) == set(range(7))
    assert by_relation[:, 1:].tolist() == [FACT[1:]] * 61
    assert by_subject[:, 0].tolist() == [0] * 61
    assert max(by_subject[:, 1].tolist()) > 7


def test_the_share_of_near_negatives() -> None:
    """Of the three subjects of "r", of 1000 entities, one alone makes no fact with the object asked about."""
    facts = [Fact("s0", "r", "o"), Fact("s1", "r", "o"), Fact("s2", "r", "p")]
    data = dataset_of(train=facts + [Fact(f"e{i}", "q", f"e{i}") for i in range(995)])
    names = data.vocabulary
    subject, near, asked_about = (names.entities.index(name) for name in ("s0", "s2", "o"))
    own = torch.tensor([[names.relations.index("r"), subject, asked_about]] * 30)
    model = Told([0.0] * len(names.entities))
    chosen = TrainingSettings(loss="sampled_cross_entropy", negatives=40, near_negatives=0.6)
    corruptions = Corruptions(data.train, DatasetInfo.from_dataset(data), chosen, torch.device("cpu"))
    torch.manual_seed(0)
    negatives_loss(model, Batch([Group(own, torch.ones(30, dtype=torch.int64))]), chosen, corruptions)
    drawn = model.asked[0].view(30, 41, 3)[:, 1:, 1]
    assert (drawn == near).double().mean().item() == pytest.approx(0.6 / 3, abs=0.04)


def test_sampled_softmax_is_over_all_corruptions_of_a_fact() -> None:
    model = Told([0.7] * 4)  # whatever is drawn, every fact scores 1.4
    loss = negatives_loss(model, batch_of(1, 2), TrainingSettings(loss="sampled_cross_entropy", negatives=10))
    assert loss.item() == pytest.approx(math.log(1 + 2 * 10))  # one fact against 20 corruptions


@pytest.mark.parametrize("shift", [-80.0, 80.0])
def test_sampled_softmax_is_stable(shift: float) -> None:
    model = Told([0.0, 0.0, shift])  # the object of the fact scores far above, or below, the other entities
    torch.manual_seed(0)
    loss = negatives_loss(model, batch_of(2), TrainingSettings(loss="sampled_cross_entropy", negatives=10))
    scores = model.weights[model.asked[0][:, 2]] + model.weights[1]
    assert loss.item() == pytest.approx((scores.logsumexp(0) - scores[0]).item(), rel=1e-5, abs=1e-5)
    loss.backward()
    assert model.weights.grad is not None
    assert model.weights.grad.isfinite().all()


def test_margin_by_hand() -> None:
    model = Told([2.0, 0.0, 1.8])
    torch.manual_seed(0)
    loss = negatives_loss(model, batch_of(2), TrainingSettings(loss="margin", margin=0.5, negatives=30))
    drawn = model.asked[0][1:, 2].tolist()
    each = {0: 0.5 + 2.0 - 1.8, 1: 0.0, 2: 0.5}
    assert loss.item() == pytest.approx(sum(each[name] for name in drawn), rel=1e-5)
    assert set(drawn) == {0, 1, 2}


@pytest.mark.parametrize("name", ["nalp", "hinge", "neuinfer"])
def test_models_of_whole_facts_learn_from_masked_entities_and_relations(name: str) -> None:
    torch.manual_seed(0)
    model_class = MODELS.get(name)
    model = model_class(model_class.settings_class(embedding_dim=8), info_of(20, 7, 3))  # type: ignore[call-arg]
    facts = torch.tensor([[1, 2, 3, 4, 5], [2, 3, 4, 5, 6]]).repeat_interleave(5, 0)  # every element masked once
    batch = Batch([Group(facts, torch.arange(5).repeat(2))])
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = negatives_loss(model, batch, TrainingSettings(loss="sampled_cross_entropy", negatives=10))
        loss.backward()
        assert all(parameter.grad is not None for parameter in model.parameters())
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2
