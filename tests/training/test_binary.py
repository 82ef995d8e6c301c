"""Every candidate's share of a softmax as a yes or no of its own, against labels written out."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import binary_cross_entropy as plain_cross_entropy

from nary.training import chunks
from nary.training.binary import binary_cross_entropy


def test_by_hand() -> None:
    scores = torch.tensor([[0.0, math.log(2), math.log(5)]])  # probabilities 1/8, 2/8, 5/8
    answers = (torch.tensor([0, 0]), torch.tensor([1, 2]), torch.ones(2))
    loss = binary_cross_entropy(torch.ones(1, 1), scores.T, torch.zeros(3), answers)
    assert loss.item() == pytest.approx(-(math.log(5 / 8) + math.log(2 / 8) + math.log(7 / 8)) / 3)


def test_a_wrong_candidate_that_has_all_of_the_softmax_is_held_at_the_cap() -> None:
    table = torch.tensor([[0.0], [200.0]], requires_grad=True)
    answers = (torch.tensor([0]), torch.tensor([0]), torch.ones(1))
    loss = binary_cross_entropy(torch.ones(1, 1), table, torch.zeros(2), answers)
    (gradient,) = torch.autograd.grad(loss, table)
    assert loss.item() == pytest.approx((200 - math.log(1e-7)) / 2, rel=0.01)  # the cap in single precision
    assert gradient.isfinite().all()


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 40),
    candidates=st.integers(2, 30),
    repeated=st.integers(0, 3),
)
def test_the_loss_and_its_gradients_are_those_of_labels(seed: int, rows: int, candidates: int, repeated: int) -> None:
    generator = torch.Generator().manual_seed(seed)

    def random(*shape: int) -> Tensor:
        return (2 * torch.rand(shape, generator=generator, dtype=torch.float64) - 1).requires_grad_()

    # Scores within -4 and 4: no share comes near the cap, which the labels written out do not have.
    inputs = random(rows, 3), random(candidates, 3), random(candidates)
    own = torch.arange(rows).repeat_interleave(repeated)
    names = torch.randint(candidates, own.shape, generator=generator)  # some more than once
    labels = torch.zeros(rows, candidates, dtype=torch.float64)
    labels[own, names] = 1
    shares = torch.addmm(inputs[2], inputs[0], inputs[1].T).softmax(1)
    written_out = plain_cross_entropy(shares, labels, reduction="sum") / candidates
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "_CHUNK_BYTES", 0)
        patch.setattr(chunks, "_SMALLEST_CHUNK", 16)
        found = binary_cross_entropy(*inputs, (own, names, torch.ones(len(own))))
    torch.testing.assert_close(found, written_out)
    for one, other in zip(*(torch.autograd.grad(2 * loss, inputs) for loss in (found, written_out)), strict=True):
        torch.testing.assert_close(one, other)
