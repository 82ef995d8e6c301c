"""The closed form against soft labels written out."""

import math

import pytest
import torch
from contracts.info import info_of
from hypothesis import given, settings
from hypothesis import strategies as st
from runs.small import small_data
from torch import Tensor

from nary.config import Settings
from nary.models.base import Kind, Model
from nary.models.batch import Batch, Group
from nary.training import chunks
from nary.training.instances import Instances
from nary.training.lesson import Lesson
from nary.training.objective import masked_loss
from nary.training.settings import TrainingSettings
from nary.training.softmax import smoothed_cross_entropy


def dense(scores: Tensor, answers: Tensor, smoothing: float) -> Tensor:
    """Cross-entropy with a matrix of soft labels."""
    candidates = scores.shape[1]
    labels = torch.full_like(scores, smoothing / (candidates - 1))
    labels[torch.arange(len(answers)), answers] = 1 - smoothing
    return -(labels * scores.log_softmax(-1)).sum()


def one_each(*answers: int) -> tuple[Tensor, Tensor, Tensor]:
    """One answer of weight 1 for each query."""
    return torch.arange(len(answers)), torch.tensor(answers), torch.ones(len(answers))


def test_by_hand() -> None:
    scores = torch.tensor([[0.0, math.log(2), math.log(5)]])  # probabilities 1/8, 2/8, 5/8
    tables = (scores.T, torch.zeros(3))  # the candidates are their scores, the query is 1

    def loss(answers: tuple[Tensor, Tensor, Tensor], smoothing: float) -> float:
        return smoothed_cross_entropy(torch.ones(1, 1), *tables, answers, smoothing).item()

    assert loss(one_each(2), 0.0) == pytest.approx(-math.log(5 / 8))
    smoothed = -(0.6 * math.log(5 / 8) + 0.2 * math.log(1 / 8) + 0.2 * math.log(2 / 8))
    assert loss(one_each(2), 0.4) == pytest.approx(smoothed)
    merged = (torch.tensor([0, 0]), torch.tensor([2, 1]), torch.tensor([2.0, 0.5]))
    assert loss(merged, 0.0) == pytest.approx(-2 * math.log(5 / 8) - 0.5 * math.log(2 / 8))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 40),
    candidates=st.integers(2, 30),
    repeated=st.integers(1, 3),
    smoothing=st.floats(0, 0.99),
    scale=st.floats(0.1, 5),
)
def test_the_loss_and_its_gradients_are_those_of_soft_labels(
    seed: int, rows: int, candidates: int, repeated: int, smoothing: float, scale: float
) -> None:
    generator = torch.Generator().manual_seed(seed)

    def random(*shape: int) -> Tensor:
        return (scale * torch.randn(shape, generator=generator)).requires_grad_()

    inputs = random(rows, 3), random(candidates, 3), random(candidates)
    own = torch.arange(rows).repeat_interleave(repeated)
    answers = own, torch.randint(candidates, own.shape, generator=generator), torch.rand(own.shape) + 0.1
    scores = torch.addmm(inputs[2], inputs[0], inputs[1].T)
    written_out = sum(
        weight * dense(scores[row : row + 1], answer[None], smoothing)
        for row, answer, weight in zip(*answers, strict=True)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "_CHUNK_BYTES", 0)
        patch.setattr(chunks, "_SMALLEST_CHUNK", 16)
        losses = [smoothed_cross_entropy(*inputs, answers, smoothing), written_out]
    torch.testing.assert_close(*losses, rtol=1e-4, atol=1e-3)
    for found, expected in zip(*(torch.autograd.grad(loss, inputs) for loss in losses), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)


def test_a_single_candidate_is_certain() -> None:
    loss = smoothed_cross_entropy(torch.ones(1, 1), torch.tensor([[3.0]]), torch.zeros(1), one_each(0), 0.5)
    assert loss.item() == 0


class Fixed(Model):
    """Query vectors and tables fixed beforehand."""

    name = "fixed"

    def __init__(self, queries: Tensor, entities: Tensor, relations: Tensor) -> None:
        super().__init__(Settings(), info_of())
        self.queries = queries
        self.tables = {"entity": entities, "relation": relations}

    def encode(self, batch: Batch) -> Tensor:
        return self.queries

    def candidates(self, kind: Kind) -> tuple[Tensor, Tensor]:
        return self.tables[kind], torch.arange(float(len(self.tables[kind])))


def test_the_mean_is_over_entity_and_relation_instances_alike() -> None:
    generator = torch.Generator().manual_seed(0)
    queries, entities, relations = (torch.randn(n, 4, generator=generator) for n in (3, 5, 2))
    model = Fixed(queries, entities, relations)
    batch = Batch([Group(torch.tensor([[1, 4, 2], [0, 3, 3], [1, 0, 4]]), torch.tensor([0, 1, 2]))])
    found = masked_loss(model, Lesson.of(batch), TrainingSettings(entity_smoothing=0.8, relation_smoothing=0.1))
    entity_scores = queries[1:] @ entities.T + torch.arange(5.0)
    relation_scores = queries[:1] @ relations.T + torch.arange(2.0)
    expected = dense(entity_scores, torch.tensor([3, 4]), 0.8) + dense(relation_scores, torch.tensor([1]), 0.1)
    torch.testing.assert_close(found, expected / 3)


@pytest.mark.parametrize("column", [0, 1])
def test_a_batch_may_ask_for_one_kind_only(column: int) -> None:
    model = Fixed(torch.ones(1, 2), torch.ones(4, 2), torch.ones(3, 2))
    batch = Batch([Group(torch.tensor([[0, 0, 0]]), torch.tensor([column]))])
    loss = masked_loss(model, Lesson.of(batch), TrainingSettings())
    scores = torch.arange(3.0 if column == 0 else 4.0)
    torch.testing.assert_close(loss, torch.logsumexp(scores, 0))


def test_an_untrained_gran_is_near_the_loss_of_guessing() -> None:
    from nary.models.base import DatasetInfo
    from nary.models.gran import Gran, GranSettings

    data = small_data()
    info = DatasetInfo.from_dataset(data)
    torch.manual_seed(0)
    model = Gran(GranSettings(num_layers=1, num_heads=2, hidden_dim=16, ffn_dim=16, dropout=0.0), info)
    everything = len(Instances(data.train, TrainingSettings()))
    batch = Instances(data.train, TrainingSettings(batch_size=everything)).at(0).batch
    guessing = torch.where(batch.asks_entity, math.log(info.num_entities), math.log(info.num_relations)).mean()
    assert masked_loss(model, Lesson.of(batch), TrainingSettings()).item() == pytest.approx(guessing.item(), abs=0.05)
