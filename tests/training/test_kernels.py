"""The losses over all candidates against labels written out."""

import math
from collections.abc import Iterator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import binary_cross_entropy, binary_cross_entropy_with_logits

from nary.training import kernels
from nary.training.kernels import Targets, chunked_cross_entropy, sigmoid_bce, softmax_bce


@pytest.fixture(autouse=True, scope="module")
def small_chunks() -> Iterator[None]:
    """Sixteen queries a chunk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "_CHUNK_BYTES", 0)
        patch.setattr(kernels, "_MIN_CHUNK", 16)
        yield


def dense(scores: Tensor, answer: Tensor, smoothing: float) -> Tensor:
    """Cross-entropy with a matrix of soft labels."""
    candidates = scores.shape[1]
    labels = torch.full_like(scores, smoothing / (candidates - 1))
    labels[torch.arange(len(answer)), answer] = 1 - smoothing
    return -(labels * scores.log_softmax(-1)).sum()


def one_each(*answers: int) -> Targets:
    """One target of weight 1 for each query."""
    return Targets(torch.arange(len(answers)), torch.tensor(answers), torch.ones(len(answers)))


def random_targets(rows: int, candidates: int, repeated: int, generator: torch.Generator) -> Targets:
    """So many targets for each query, some more than once."""
    of_query = torch.arange(rows).repeat_interleave(repeated)
    names = torch.randint(candidates, of_query.shape, generator=generator)
    return Targets(of_query, names, torch.ones(len(of_query)))


def test_cross_entropy_by_hand() -> None:
    scores = torch.tensor([[0.0, math.log(2), math.log(5)]])  # probabilities 1/8, 2/8, 5/8
    candidates = (scores.T, torch.zeros(3))  # the candidates are their scores, the query is 1

    def loss(targets: Targets, smoothing: float) -> float:
        return chunked_cross_entropy(torch.ones(1, 1), *candidates, targets, smoothing).item()

    assert loss(one_each(2), 0.0) == pytest.approx(-math.log(5 / 8))
    smoothed = -(0.6 * math.log(5 / 8) + 0.2 * math.log(1 / 8) + 0.2 * math.log(2 / 8))
    assert loss(one_each(2), 0.4) == pytest.approx(smoothed)
    merged = Targets(torch.tensor([0, 0]), torch.tensor([2, 1]), torch.tensor([2.0, 0.5]))
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
def test_cross_entropy_and_its_gradients_are_those_of_soft_labels(
    seed: int, rows: int, candidates: int, repeated: int, smoothing: float, scale: float
) -> None:
    generator = torch.Generator().manual_seed(seed)

    def random(*shape: int) -> Tensor:
        return (scale * torch.randn(shape, generator=generator)).requires_grad_()

    inputs = random(rows, 3), random(candidates, 3), random(candidates)
    targets = random_targets(rows, candidates, repeated, generator)
    targets = targets._replace(weights=torch.rand(targets.rows.shape) + 0.1)
    scores = torch.addmm(inputs[2], inputs[0], inputs[1].T)
    written_out = sum(
        weight * dense(scores[row : row + 1], answer[None], smoothing)
        for row, answer, weight in zip(*targets, strict=True)
    )
    losses = [chunked_cross_entropy(*inputs, targets, smoothing), written_out]
    torch.testing.assert_close(*losses, rtol=1e-4, atol=1e-3)
    for gradient, expected in zip(*(torch.autograd.grad(loss, inputs) for loss in losses), strict=True):
        torch.testing.assert_close(gradient, expected, rtol=1e-3, atol=1e-3)


def test_a_single_candidate_is_certain() -> None:
    loss = chunked_cross_entropy(torch.ones(1, 1), torch.tensor([[3.0]]), torch.zeros(1), one_each(0), 0.5)
    assert loss.item() == 0


def test_softmax_bce_by_hand() -> None:
    scores = torch.tensor([[0.0, math.log(2), math.log(5)]])  # probabilities 1/8, 2/8, 5/8
    targets = Targets(torch.tensor([0, 0]), torch.tensor([1, 2]), torch.ones(2))
    loss = softmax_bce(torch.ones(1, 1), scores.T, torch.zeros(3), targets)
    assert loss.item() == pytest.approx(-(math.log(5 / 8) + math.log(2 / 8) + math.log(7 / 8)) / 3)


def test_a_wrong_candidate_that_has_all_of_the_softmax_is_held_at_the_cap() -> None:
    candidates = torch.tensor([[0.0], [200.0]], requires_grad=True)
    loss = softmax_bce(torch.ones(1, 1), candidates, torch.zeros(2), one_each(0))
    (gradient,) = torch.autograd.grad(loss, candidates)
    assert loss.item() == pytest.approx((200 - math.log(1e-7)) / 2, rel=0.01)  # the cap in single precision
    assert gradient.isfinite().all()


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 40),
    candidates=st.integers(2, 30),
    repeated=st.integers(0, 3),
)
def test_softmax_bce_and_its_gradients_are_those_of_labels(
    seed: int, rows: int, candidates: int, repeated: int
) -> None:
    generator = torch.Generator().manual_seed(seed)

    def random(*shape: int) -> Tensor:
        return (2 * torch.rand(shape, generator=generator, dtype=torch.float64) - 1).requires_grad_()

    # Scores within -4 and 4: no probability comes near the cap, which the labels written out do not have.
    inputs = random(rows, 3), random(candidates, 3), random(candidates)
    targets = random_targets(rows, candidates, repeated, generator)
    labels = torch.zeros(rows, candidates, dtype=torch.float64)
    labels[targets.rows, targets.candidates] = 1
    probabilities = torch.addmm(inputs[2], inputs[0], inputs[1].T).softmax(1)
    written_out = binary_cross_entropy(probabilities, labels, reduction="sum") / candidates
    loss = softmax_bce(*inputs, targets)
    torch.testing.assert_close(loss, written_out)
    for one, other in zip(*(torch.autograd.grad(2 * value, inputs) for value in (loss, written_out)), strict=True):
        torch.testing.assert_close(one, other)


def test_sigmoid_bce_by_hand() -> None:
    scores = torch.tensor([[0.0, math.log(3), -math.log(3)]])  # probabilities 1/2, 3/4, 1/4
    targets = Targets(torch.tensor([0, 0]), torch.tensor([0, 1]), torch.ones(2))

    def loss(smoothing: float) -> float:
        return sigmoid_bce(torch.ones(1, 1), scores.T, torch.zeros(3), targets, smoothing).item()

    assert loss(0.0) == pytest.approx(-(math.log(1 / 2) + math.log(3 / 4) + math.log(3 / 4)) / 3)
    right, wrong = 0.9 + 1 / 3, 1 / 3  # a label may be more than 1
    expected = right * math.log(1 / 2) + (1 - right) * math.log(1 / 2)
    expected += right * math.log(3 / 4) + (1 - right) * math.log(1 / 4)
    expected += wrong * math.log(1 / 4) + (1 - wrong) * math.log(3 / 4)
    assert loss(0.1) == pytest.approx(-expected / 3)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 40),
    candidates=st.integers(1, 30),
    repeated=st.integers(0, 3),
    smoothing=st.sampled_from([0.0, 0.1, 0.5]),
)
def test_sigmoid_bce_and_its_gradients_are_those_of_labels(
    seed: int, rows: int, candidates: int, repeated: int, smoothing: float
) -> None:
    generator = torch.Generator().manual_seed(seed)

    def random(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator).requires_grad_()

    inputs = random(rows, 3), random(candidates, 3), random(candidates)
    targets = random_targets(rows, candidates, repeated, generator)
    labels = torch.zeros(rows, candidates)
    labels[targets.rows, targets.candidates] = 1
    if smoothing:
        labels = labels * (1 - smoothing) + 1 / candidates
    scores = torch.addmm(inputs[2], inputs[0], inputs[1].T)
    written_out = binary_cross_entropy_with_logits(scores, labels, reduction="sum") / candidates
    loss = sigmoid_bce(*inputs, targets, smoothing)
    torch.testing.assert_close(loss, written_out, rtol=1e-4, atol=1e-4)
    for one, other in zip(*(torch.autograd.grad(2 * value, inputs) for value in (loss, written_out)), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
