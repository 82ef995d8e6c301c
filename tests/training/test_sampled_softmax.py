"""The sampled softmax: by hand, against the loss over all candidates, and what is drawn."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from contracts.info import info_of
from runs.small import small_data, small_run
from torch import Tensor
from training.small import loss_of

from nary.errors import SettingError
from nary.facts import FactTable
from nary.facts.table import Block
from nary.models.base import DatasetInfo
from nary.models.batch import Batch, Group
from nary.models.gran import Gran, GranSettings
from nary.recipe import Recipe
from nary.training.batches import TrainingBatch, TrainingBatches
from nary.training.kernels import Targets
from nary.training.sampled_softmax import (
    EntitySampler,
    Pairs,
    Sample,
    SampledSoftmaxLoss,
    SampledSoftmaxSettings,
    given_entities,
    sampled_cross_entropy,
)
from nary.training.settings import TrainingSettings


def settings(**changed: Any) -> SampledSoftmaxSettings:
    return SampledSoftmaxSettings.model_validate(changed)


def targets(rows: list[int], columns: list[int]) -> Targets:
    return Targets(torch.tensor(rows), torch.tensor(columns), torch.ones(len(rows)))


NOTHING = Pairs(torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=torch.int64))


def test_by_hand() -> None:
    scores = torch.tensor([[1.0, 2.0, 3.0, 0.0]], requires_grad=True)
    log_q = torch.tensor([0.5, 0.25, torch.inf, 0.125]).log()
    given = Pairs(torch.tensor([0, 0]), torch.tensor([3, 3]))
    loss = sampled_cross_entropy(scores, log_q, targets([0], [0]), given, 0.0, 10)
    # The answer counts once, the second candidate for four; the third was not drawn; the last one is in the fact.
    total = math.exp(1) + 4 * math.exp(2) + math.exp(0)
    assert loss.item() == pytest.approx(math.log(total) - 1, abs=1e-6)
    loss.backward()
    expected = torch.tensor([[math.exp(1) / total - 1, 4 * math.exp(2) / total, 0.0, 1 / total]])
    torch.testing.assert_close(scores.grad, expected)


def test_smoothing_by_hand() -> None:
    scores = torch.tensor([[1.0, 2.0]])
    log_q = torch.tensor([0.5, 0.25]).log()
    plain = sampled_cross_entropy(scores, log_q, targets([0], [0]), NOTHING, 0.0, 11).item()
    smooth = sampled_cross_entropy(scores, log_q, targets([0], [0]), NOTHING, 0.3, 11).item()
    mean = (2 * 1 + 4 * 2) / 6  # each drawn candidate stands for 1 / q
    assert smooth - plain == pytest.approx(0.33 * 1 - 0.03 * 11 * mean, abs=1e-6)


def model_and_batch(**changed: Any) -> tuple[Gran, TrainingBatch]:
    data = small_data()
    torch.manual_seed(1)
    small = GranSettings(num_layers=1, num_heads=2, hidden_dim=16, ffn_dim=16, dropout=0)
    model = Gran(small, DatasetInfo.from_dataset(data))
    torch.nn.init.normal_(model.entity_embedding)
    torch.nn.init.normal_(model.output_bias)
    return model, TrainingBatches(data.train, TrainingSettings.model_validate({"batch_size": 64, **changed})).batch_at(
        0
    )


@pytest.mark.parametrize("changed", [{}, {"merge_queries": True, "shuffle": "instances"}])
def test_a_sample_of_all_entities_gives_the_exact_loss(changed: dict[str, Any]) -> None:
    model, batch = model_and_batch(**changed)
    smoothing = {"entity_label_smoothing": 0.4, "relation_label_smoothing": 0.1}
    everything = Sample(torch.arange(model.info.num_entities), torch.zeros(model.info.num_entities))
    sampled = loss_of("sampled_softmax", model.info, **smoothing)(model, batch, everything)
    torch.testing.assert_close(sampled, loss_of("cross_entropy", model.info, **smoothing)(model, batch))


@pytest.mark.parametrize("sampler", ["uniform", "frequency"])
def test_the_mean_over_samples_is_near_the_exact_loss(sampler: str) -> None:
    model, batch = model_and_batch()
    torch.manual_seed(0)
    loss = loss_of("sampled_softmax", model.info, num_candidates=20, sampler=sampler, in_batch="none")
    with torch.no_grad():
        samples = torch.stack([loss(model, batch) for _ in range(400)])
        exact = loss_of("cross_entropy", model.info)(model, batch).item()
        plain = loss_of("sampled_softmax", model.info, num_candidates=20, in_batch="none", logq_correction=False)
        uncorrected = torch.stack([plain(model, batch) for _ in range(400)]).mean().item()
    assert samples.mean().item() == pytest.approx(exact, rel=0.1)
    assert uncorrected < 0.95 * exact  # fewer candidates make an easier task


def facts_of(*entities: tuple[int, int]) -> FactTable:
    ids = np.array([[0, *pair] for pair in entities], np.int32)
    return FactTable([Block(ids, np.arange(len(ids)))])


INFO = info_of(100, 1, 2, facts_of((0, 1), (0, 2), (0, 3), (0, 4)))


@pytest.mark.parametrize(
    "changed", [{}, {"in_batch": "answers"}, {"in_batch": "none"}, {"sampler": "frequency"}, {"num_candidates": 0}]
)
def test_log_q_is_how_often_an_entity_is_drawn(changed: dict[str, Any]) -> None:
    sampler = EntitySampler(settings(**{"num_candidates": 30, **changed}), INFO)
    torch.manual_seed(0)
    batches = 4000
    share = torch.zeros(100)
    for _ in range(batches):
        # The entities of a batch follow their frequency in the facts: half of all are entity 0.
        entities = torch.where(torch.rand(3) < 0.5, 0, torch.randint(1, 5, (3,)))
        given = 0 if changed.get("in_batch") == "answers" else 2
        sample = sampler(entities[given:], entities[:given])
        drawn = sample.ids[sample.log_q.isfinite()]
        share[drawn] += 1 / batches
    expected = sampler._log_probability(torch.arange(100), 3).exp().float()
    # With three entities, that one is missing has probability (1 - f)^3, which exp(-3 f) approximates.
    torch.testing.assert_close(share, expected, atol=0.12 if changed.get("in_batch") != "none" else 0.03, rtol=0)
    if changed.get("in_batch") == "none":
        torch.testing.assert_close(share.mean(), expected.mean(), atol=0.002, rtol=0)


def test_entities_of_others_count_only_in_batch() -> None:
    answers, others = torch.tensor([7, 9]), torch.tensor([11, 7])
    for in_batch in ("all", "answers", "none"):
        torch.manual_seed(0)
        sample = EntitySampler(settings(num_candidates=1, in_batch=in_batch), INFO)(answers, others)
        assert set(answers.tolist()) <= set(sample.ids.tolist())
        assert (11 in sample.ids) == (in_batch == "all")
        assert sample.log_q.isfinite().sum() == (1 if in_batch == "none" else len(sample.ids))


def test_what_stands_in_a_fact_is_given() -> None:
    pairs = Group(torch.tensor([[0, 7, 8], [0, 9, 9]]), torch.tensor([1, 2]))
    qualified = Group(torch.tensor([[0, 3, 4, 1, 5]]), torch.tensor([0]))
    given = given_entities(Batch([pairs, qualified]))
    assert list(zip(*map(Tensor.tolist, given), strict=True)) == [(0, 8), (1, 9), (2, 3), (2, 4), (2, 5)]


def test_equal_seeds_draw_equal_samples() -> None:
    def draw(seed: int) -> Tensor:
        torch.manual_seed(seed)
        return EntitySampler(settings(num_candidates=20), INFO)(torch.tensor([7]), torch.tensor([8])).ids

    assert torch.equal(draw(3), draw(3))
    assert not torch.equal(draw(3), draw(4))


def test_no_candidates_at_all_are_refused() -> None:
    tables = {"data": {"name": "x"}, "loss": {"name": "sampled_softmax", "num_candidates": 0, "in_batch": "none"}}
    with pytest.raises(SettingError, match="in_batch"):
        Recipe.from_tables(tables)


def test_a_model_that_mixes_all_entities_is_refused(tmp_path: Any) -> None:
    with pytest.raises(SettingError, match="uses all entities"):
        small_run(tmp_path / "run", "stare", loss__name="sampled_softmax", model__hidden_dim=8, model__num_heads=2)
    assert not (tmp_path / "run").exists()


def test_relations_are_not_sampled() -> None:
    model, batch = model_and_batch()
    loss = loss_of("sampled_softmax", model.info)
    assert isinstance(loss, SampledSoftmaxLoss)
    assert loss.sample(batch).ids.max() < model.info.num_entities
    loss(model, batch).backward()
    assert model.relation_embedding.grad is not None
    assert (model.relation_embedding.grad.abs().sum(1) > 0).all()
