"""Every candidate as a yes or no of its own, against labels written out."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from nary.training import chunks
from nary.training.sigmoid import sigmoid_cross_entropy


def test_by_hand() -> None:
    scores = torch.tensor([[0.0, math.log(3), -math.log(3)]])  # probabilities 1/2, 3/4, 1/4
    answers = (torch.tensor([0, 0]), torch.tensor([0, 1]), torch.ones(2))

    def loss(smoothing: float) -> float:
        return sigmoid_cross_entropy(torch.ones(1, 1), scores.T, torch.zeros(3), answers, smoothing).item()

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
def test_the_loss_and_its_gradients_are_those_of_labels(
    seed: int, rows: int, candidates: int, repeated: int, smoothing: float
) -> None:
    generator = torch.Generator().manual_seed(seed)

    def random(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator).requires_grad_()

    inputs = random(rows, 3), random(candidates, 3), random(candidates)
    own = torch.arange(rows).repeat_interleave(repeated)
    names = torch.randint(candidates, own.shape, generator=generator)  # some more than once
    labels = torch.zeros(rows, candidates)
    labels[own, names] = 1
    if smoothing:
        labels = labels * (1 - smoothing) + 1 / candidates
    scores = torch.addmm(inputs[2], inputs[0], inputs[1].T)
    written_out = binary_cross_entropy_with_logits(scores, labels, reduction="sum") / candidates
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "_CHUNK_BYTES", 0)
        patch.setattr(chunks, "_SMALLEST_CHUNK", 16)
        found = sigmoid_cross_entropy(*inputs, (own, names, torch.ones(len(own))), smoothing)
    torch.testing.assert_close(found, written_out, rtol=1e-4, atol=1e-4)
    for one, other in zip(*(torch.autograd.grad(2 * loss, inputs) for loss in (found, written_out)), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
