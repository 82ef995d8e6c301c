"""The smallest of several rows, and the way back."""

import torch
from nary.models.pairs.lowest import lowest


def test_by_hand() -> None:
    table = torch.tensor([[1.0, 5.0], [2.0, 3.0], [0.0, 4.0]], requires_grad=True)
    found = lowest(table, torch.tensor([[0, 1], [1, 2], [0, 0]]))
    assert found.tolist() == [[1.0, 3.0], [0.0, 3.0], [1.0, 5.0]]
    found.backward(torch.tensor([[1.0, 10.0], [100.0, 1000.0], [7.0, 8.0]]))
    assert table.grad is not None
    assert table.grad.tolist() == [[8.0, 8.0], [0.0, 1010.0], [100.0, 0.0]]  # of equal rows one gets it all


def test_values_and_gradients_are_those_of_looking_all_rows_up() -> None:
    torch.manual_seed(0)
    places = torch.randint(50, (300, 4))  # more than are worked on at a time
    weight = torch.randn(300, 7, dtype=torch.float64)
    tables = [torch.randn(50, 7, dtype=torch.float64).requires_grad_() for _ in range(2)]
    tables[1].data.copy_(tables[0].data)
    found, expected = lowest(tables[0], places), tables[1][places].amin(1)
    assert torch.equal(found, expected)
    (found * weight).sum().backward()
    (expected * weight).sum().backward()
    torch.testing.assert_close(tables[0].grad, tables[1].grad)
