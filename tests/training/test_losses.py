"""The losses: by hand, against their definition, and one from outside."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from contracts.info import info_of
from runs.small import dataset_of, small_data, small_recipe, small_run
from torch import Tensor
from training.small import loss_of

from nary.config import Settings, validate_settings
from nary.data.dataset import Dataset
from nary.errors import SettingError
from nary.facts import Fact, FactTable
from nary.models.base import DatasetInfo, Kind, Model
from nary.models.batch import Batch, Group
from nary.models.gran import Gran, GranSettings
from nary.models.hy_transformer import HyTransformer, HyTransformerSettings
from nary.models.registry import MODELS
from nary.training.batches import TrainingBatch, TrainingBatches
from nary.training.kernels import Targets
from nary.training.losses import CandidateLoss, CrossEntropyLoss, CrossEntropySettings, LossSettings, register_loss
from nary.training.settings import BUILT_IN_LOSSES, LOSSES, TrainingSettings


def whole_epoch(table: FactTable, **settings: object) -> TrainingBatch:
    whole = TrainingBatches(table, TrainingSettings.model_validate(settings))
    return TrainingBatches(table, TrainingSettings.model_validate({**settings, "batch_size": len(whole)})).batch_at(0)


@pytest.mark.parametrize("name", BUILT_IN_LOSSES)
def test_losses_and_their_settings_have_the_same_name(name: str) -> None:
    loss = LOSSES.get(name)
    assert loss.name == name
    assert loss.settings_class().name == name  # type: ignore[call-arg]


# All candidates


class Fixed(Model):
    """Query vectors and candidates fixed beforehand."""

    name = "fixed"

    def __init__(self, queries: Tensor, entities: Tensor, relations: Tensor) -> None:
        super().__init__(Settings(), info_of(len(entities), len(relations)))
        self.queries = queries
        self.tables = {"entity": entities, "relation": relations}

    def encode(self, batch: Batch) -> Tensor:
        return self.queries

    def candidates(self, kind: Kind) -> tuple[Tensor, Tensor]:
        return self.tables[kind], torch.arange(float(len(self.tables[kind])))


def dense(scores: Tensor, answers: Tensor, smoothing: float) -> Tensor:
    """Cross-entropy with a matrix of soft labels."""
    labels = torch.full_like(scores, smoothing / (scores.shape[1] - 1))
    labels[torch.arange(len(answers)), answers] = 1 - smoothing
    return -(labels * scores.log_softmax(-1)).sum()


def test_the_mean_is_over_entity_and_relation_instances_alike() -> None:
    generator = torch.Generator().manual_seed(0)
    queries, entities, relations = (torch.randn(n, 4, generator=generator) for n in (3, 5, 2))
    model = Fixed(queries, entities, relations)
    batch = Batch([Group(torch.tensor([[1, 4, 2], [0, 3, 3], [1, 0, 4]]), torch.tensor([0, 1, 2]))])
    loss = loss_of(entity_label_smoothing=0.8, relation_label_smoothing=0.1)
    entity_scores = queries[1:] @ entities.T + torch.arange(5.0)
    relation_scores = queries[:1] @ relations.T + torch.arange(2.0)
    expected = dense(entity_scores, torch.tensor([3, 4]), 0.8) + dense(relation_scores, torch.tensor([1]), 0.1)
    torch.testing.assert_close(loss(model, TrainingBatch.from_batch(batch)), expected / 3)


@pytest.mark.parametrize("column", [0, 1])
def test_a_batch_may_ask_for_one_kind_only(column: int) -> None:
    model = Fixed(torch.ones(1, 2), torch.ones(4, 2), torch.ones(3, 2))
    batch = Batch([Group(torch.tensor([[0, 0, 0]]), torch.tensor([column]))])
    scores = torch.arange(3.0 if column == 0 else 4.0)
    torch.testing.assert_close(loss_of()(model, TrainingBatch.from_batch(batch)), torch.logsumexp(scores, 0))


def test_an_untrained_gran_is_near_the_loss_of_guessing() -> None:
    data = small_data()
    sizes = DatasetInfo.from_dataset(data)
    torch.manual_seed(0)
    model = Gran(GranSettings(num_layers=1, num_heads=2, hidden_dim=16, ffn_dim=16, dropout=0.0), sizes)
    batch = whole_epoch(data.train).batch
    guessing = torch.where(batch.asks_entity, math.log(sizes.num_entities), math.log(sizes.num_relations)).mean()
    assert loss_of()(model, TrainingBatch.from_batch(batch)).item() == pytest.approx(guessing.item(), abs=0.05)


class Extra(Fixed):
    """A model with a loss of its own."""

    def extra_loss(self, batch: Batch) -> Tensor:
        return torch.tensor(float(len(batch)))


def test_the_extra_loss_of_a_model_is_added() -> None:
    queries, entities, relations = torch.ones(1, 2), torch.ones(4, 2), torch.ones(3, 2)
    batch = TrainingBatch.from_batch(Batch([Group(torch.tensor([[0, 0, 0]]), torch.tensor([1]))]))
    plain, extra = (loss_of()(kind(queries, entities, relations), batch) for kind in (Fixed, Extra))
    torch.testing.assert_close(extra, plain + 1)


# The weight of values

MERGED = {"shuffle": "instances", "merge_queries": True}


def weights_of(batch: TrainingBatch, value_weight: float) -> Tensor:
    loss = loss_of(value_weight=value_weight)
    assert isinstance(loss, CrossEntropyLoss)
    return loss.target_weights(batch)


def test_values_alone_weigh_more() -> None:
    table = dataset_of(train=[Fact("Ada", "likes", "Ben"), Fact("Cy", "sees", "Dee", [("with", "Eve")])]).train
    batch = whole_epoch(table)
    assert weights_of(batch, 2.5).tolist() == [1, 1, 1, 1, 1, 1, 1, 2.5]  # the last column of the second fact
    assert weights_of(batch, 1.0).tolist() == [1] * 8


def test_values_of_merged_queries_weigh_more() -> None:
    facts = [Fact("Ada", "sees", "Ben", [("with", name)]) for name in ("Cy", "Dee")]
    batch = whole_epoch(dataset_of(train=facts).train, **MERGED)
    weights = weights_of(batch, 3.0)
    columns = batch.batch.groups[0].columns[batch.rows]
    share = 9 / 10  # ten instances make nine queries: with whom, twice, is one
    assert sorted(weights[columns == 4].tolist()) == pytest.approx([3 * share] * 2)
    assert weights[columns < 4].tolist() == pytest.approx([share] * 8)


def test_the_loss_is_that_of_the_others_and_the_weight_times_that_of_the_values() -> None:
    data = small_data()
    torch.manual_seed(0)
    model = HyTransformer(
        HyTransformerSettings(num_layers=1, num_heads=2, hidden_dim=8, ffn_dim=8), DatasetInfo.from_dataset(data)
    ).eval()
    batch = whole_epoch(data.train)
    losses = {
        weight: loss_of(entity_label_smoothing=0.1, value_weight=weight)(model, batch) for weight in (0.5, 1.0, 2.0)
    }
    of_values = losses[2.0] - losses[1.0]
    assert of_values > 0.1
    torch.testing.assert_close(losses[1.0] - losses[0.5], of_values / 2)


def test_a_weight_must_be_positive() -> None:
    with pytest.raises(SettingError, match=r"loss\.value_weight is 0"):
        validate_settings(CrossEntropySettings, {"value_weight": 0.0}, "loss")


# Random candidates


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


def masked(*columns: int) -> TrainingBatch:
    """The fact of relation 0, subject 1, object 2 with each of ``columns`` masked."""
    facts = torch.tensor([[0, 1, 2]] * len(columns))
    return TrainingBatch.from_batch(Batch([Group(facts, torch.tensor(columns))]))


def test_sampled_cross_entropy_is_over_all_negatives_of_a_fact() -> None:
    model = Told([0.7] * 4)  # whatever is drawn, every fact scores 1.4
    loss = loss_of("sampled_cross_entropy", info=model.info, num_negatives=10)(model, masked(1, 2))
    assert loss.item() == pytest.approx(math.log(1 + 2 * 10))  # one fact against 20 negatives


@pytest.mark.parametrize("shift", [-80.0, 80.0])
def test_sampled_cross_entropy_is_stable(shift: float) -> None:
    model = Told([0.0, 0.0, shift])  # the object of the fact scores far above, or below, the other entities
    torch.manual_seed(0)
    loss = loss_of("sampled_cross_entropy", info=model.info, num_negatives=10)(model, masked(2))
    scores = model.weights[model.asked[0][:, 2]] + model.weights[1]
    assert loss.item() == pytest.approx((scores.logsumexp(0) - scores[0]).item(), rel=1e-5, abs=1e-5)
    loss.backward()  # type: ignore[no-untyped-call]
    assert model.weights.grad is not None
    assert model.weights.grad.isfinite().all()


def test_margin_by_hand() -> None:
    model = Told([2.0, 0.0, 1.8])
    torch.manual_seed(0)
    loss = loss_of("margin", info=model.info, margin=0.5, num_negatives=30)(model, masked(2))
    drawn = model.asked[0][1:, 2].tolist()
    each = {0: 0.5 + 2.0 - 1.8, 1: 0.0, 2: 0.5}
    assert loss.item() == pytest.approx(sum(each[name] for name in drawn), rel=1e-5)
    assert set(drawn) == {0, 1, 2}


@pytest.mark.parametrize("name", ["nalp", "hinge", "neuinfer"])
def test_models_of_whole_facts_learn_from_masked_entities_and_relations(name: str) -> None:
    torch.manual_seed(0)
    model_class = MODELS.get(name)
    model = model_class(model_class.settings_class(embedding_dim=8), info_of(20, 7, 3))
    facts = torch.tensor([[1, 2, 3, 4, 5], [2, 3, 4, 5, 6]]).repeat_interleave(5, 0)  # every element masked once
    batch = TrainingBatch.from_batch(Batch([Group(facts, torch.arange(5).repeat(2))]))
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    sampled = loss_of("sampled_cross_entropy", info=model.info, num_negatives=10)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = sampled(model, batch)
        loss.backward()  # type: ignore[no-untyped-call]
        assert all(parameter.grad is not None for parameter in model.parameters())
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2


# Corruptions


class Knowing(Model):
    """Scores a fact 3 if it is the one it knows, and -1 otherwise."""

    name = "knowing"

    def __init__(self) -> None:
        super().__init__(Settings(), info_of(4, 1, 2))

    def fact_scores(self, ids: Tensor) -> Tensor:
        return torch.where((ids == torch.tensor([0, 0, 1])).all(1), 3.0, -1.0)


def test_corruption_bce_by_hand() -> None:
    data = dataset_of(train=[Fact("a", "r", "b"), Fact("c", "r", "d")])
    ids = torch.from_numpy(data.train.blocks[0].ids.astype(np.int64))
    batch = TrainingBatch.from_batch(Batch([Group(ids, torch.zeros(2, dtype=torch.int64))]))
    loss = loss_of("corruption_bce", DatasetInfo.from_dataset(data), num_negatives=4, value_fraction=1.0)
    known, unknown, wrong = (math.log1p(math.exp(x)) for x in (-3, 1, -1))
    assert loss(Knowing(), batch).item() == pytest.approx((known + unknown + 8 * wrong) / 10, rel=1e-5)


# Losses from other packages


class SquaredSettings(LossSettings):
    """The settings of a loss from outside."""

    name: str = "squared"
    scale: float = 1.0


class SquaredLoss(CandidateLoss):
    """Squared distance of the scores from 1 for targets and 0 for all others."""

    name = "squared"
    settings_class = SquaredSettings
    settings: SquaredSettings

    def candidate_loss(self, kind: Kind, queries: Tensor, candidates: Tensor, bias: Tensor, targets: Targets) -> Tensor:
        scores = torch.addmm(bias, queries, candidates.T)
        labels = torch.zeros_like(scores)
        labels[targets.rows, targets.candidates] = 1
        return self.settings.scale * (scores - labels).square().sum()


@pytest.fixture
def squared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LOSSES, "_registered", {**LOSSES._registered})
    assert register_loss(SquaredLoss) is SquaredLoss


@pytest.mark.usefixtures("squared")
def test_a_registered_loss_trains(tmp_path: Path) -> None:
    data: Dataset = small_data()
    plain, scaled = (
        small_run(tmp_path / name, dataset=data, loss__name="squared", loss__scale=scale)
        for name, scale in (("plain", 1.0), ("scaled", 0.5))
    )
    assert plain.recipe is not None
    assert plain.recipe.as_tables()["loss"] == {"name": "squared", "scale": 1.0}
    assert not all(
        torch.equal(*both) for both in zip(plain.module.parameters(), scaled.module.parameters(), strict=True)
    )
    with pytest.raises(SettingError, match=r"unknown key loss\.scael") as caught:
        small_recipe(data, loss__name="squared", loss__scael=2.0)
    assert "loss.scale" in str(caught.value.hint)


@pytest.mark.usefixtures("squared")
def test_a_name_is_registered_once() -> None:
    with pytest.raises(SettingError, match="a loss named 'margin' exists already"):
        register_loss(type("Other", (SquaredLoss,), {"name": "margin"}))
