"""Minima of tensors and of gathered rows, and their gradients."""

import torch

from nary.models.pairs.minimum import gather_min, minimum


def test_gathered_minima_by_hand() -> None:
    table = torch.tensor([[1.0, 5.0], [2.0, 3.0], [0.0, 4.0]], requires_grad=True)
    found = gather_min(table, torch.tensor([[0, 1], [1, 2], [0, 0]]))
    assert found.tolist() == [[1.0, 3.0], [0.0, 3.0], [1.0, 5.0]]
    found.backward(torch.tensor([[1.0, 10.0], [100.0, 1000.0], [7.0, 8.0]]))
    assert table.grad is not None
    assert table.grad.tolist() == [[8.0, 8.0], [0.0, 1010.0], [100.0, 0.0]]  # of equal rows one gets it all


def test_gathered_minima_have_the_values_and_gradients_of_looking_all_rows_up() -> None:
    torch.manual_seed(0)
    places = torch.randint(50, (300, 4))  # more than are worked on at a time
    weight = torch.randn(300, 7, dtype=torch.float64)
    tables = [torch.randn(50, 7, dtype=torch.float64).requires_grad_() for _ in range(2)]
    tables[1].data.copy_(tables[0].data)
    found, expected = gather_min(tables[0], places), tables[1][places].amin(1)
    assert torch.equal(found, expected)
    (found * weight).sum().backward()
    (expected * weight).sum().backward()
    torch.testing.assert_close(tables[0].grad, tables[1].grad)


def test_minima_are_as_torch_has_them() -> None:
    draw = torch.Generator().manual_seed(0)
    ours = [torch.randn(4, 5, generator=draw).requires_grad_() for _ in range(3)]
    theirs = [one.detach().clone().requires_grad_() for one in ours]
    weight = torch.randn(4, 5, generator=draw)
    found, wanted = minimum(ours), torch.stack(theirs).amin(0)
    assert torch.equal(found, wanted)
    (found * weight).sum().backward()
    (wanted * weight).sum().backward()
    for own, other in zip(ours, theirs, strict=True):
        assert own.grad is not None
        assert other.grad is not None
        assert torch.equal(own.grad, other.grad)


def test_of_equal_elements_the_first_gets_the_gradient() -> None:
    first, second = (torch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    minimum([first, second]).sum().backward()
    assert first.grad is not None
    assert second.grad is not None
    assert (first.grad.tolist(), second.grad.tolist()) == ([1, 1], [0, 0])
