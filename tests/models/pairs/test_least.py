"""The least of several arrays, and what goes back through it."""

import torch

from nary.models.pairs.base import least


def test_as_torch_has_it() -> None:
    draw = torch.Generator().manual_seed(0)
    ours = [torch.randn(4, 5, generator=draw).requires_grad_() for _ in range(3)]
    theirs = [one.detach().clone().requires_grad_() for one in ours]
    weight = torch.randn(4, 5, generator=draw)
    found, wanted = least(ours), torch.stack(theirs).amin(0)
    assert torch.equal(found, wanted)
    (found * weight).sum().backward()
    (wanted * weight).sum().backward()
    for own, other in zip(ours, theirs, strict=True):
        assert own.grad is not None
        assert other.grad is not None
        assert torch.equal(own.grad, other.grad)


def test_of_equal_elements_the_first_gets_the_gradient() -> None:
    first, second = (torch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    least([first, second]).sum().backward()
    assert first.grad is not None
    assert second.grad is not None
    assert (first.grad.tolist(), second.grad.tolist()) == ([1, 1], [0, 0])
