"""The row-wise optimizer: where a row is one number it is the dense one, and it touches no other rows."""

from typing import Any

import pytest
import torch

from nary.training.row_optimizer import RowOptimizer
from nary.training.settings import TrainingSettings


def settings(**changed: Any) -> TrainingSettings:
    return TrainingSettings.model_validate({"adam_epsilon": 1e-8, "adam_epsilon_on": "corrected", **changed})


DENSE = {
    "adam": lambda p: torch.optim.AdamW([p], 0.1, (0.0, 0.999), 1e-8, 0.2),
    "adagrad": lambda p: torch.optim.Adagrad([p], 0.1, weight_decay=0.2),
    "sgd": lambda p: torch.optim.SGD([p], 0.1, weight_decay=0.2),
}


@pytest.mark.parametrize("name", DENSE)
@pytest.mark.parametrize("shape", [(5,), (5, 1)])
def test_rows_of_one_number_are_updated_like_single_weights(name: str, shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    dense = torch.randn(shape).requires_grad_()
    table = dense.detach().clone()
    rows = RowOptimizer([table], settings(optimizer=name))
    optimizer = DENSE[name](dense)
    for step in range(4):
        dense.grad = torch.randn(shape)
        rows.update(step, table, torch.arange(5), dense.grad, 0.1, 0.2)
        optimizer.step()
        torch.testing.assert_close(table, dense.detach())


def test_a_step_without_a_row_is_one_with_a_gradient_of_zero() -> None:
    torch.manual_seed(0)
    dense = torch.randn(3).requires_grad_()
    table = dense.detach().clone()
    rows = RowOptimizer([table], settings())
    optimizer = torch.optim.AdamW([dense], 0.1, (0.0, 0.999), 1e-8, 0.0)
    for step in range(40):
        used = torch.rand(3) < 0.2
        dense.grad = torch.where(used, torch.randn(3), 0)
        rows.update(step, table, used.nonzero()[:, 0], dense.grad[used], 0.1, 0.0)
        optimizer.step()
    torch.testing.assert_close(table, dense.detach())


@pytest.mark.parametrize("epsilon_on", ["corrected", "uncorrected"])
def test_two_updates_by_hand(epsilon_on: str) -> None:
    table = torch.zeros(3, 2)
    rows = RowOptimizer([table], settings(adam_epsilon=0.5, adam_epsilon_on=epsilon_on))
    moment = 0.0
    for gradient, step, since in (([3.0, 4.0], 0, 1), ([0.0, 1.0], 4, 4)):
        before = table[1].clone()
        rows.update(step, table, torch.tensor([1]), torch.tensor([gradient]), 0.1, 0.0)
        moment = 0.999**since * moment + 0.001 * sum(value**2 for value in gradient) / 2
        corrected = 1 - 0.999 ** (step + 1)
        epsilon = 0.5 if epsilon_on == "corrected" else 0.5 / corrected**0.5
        expected = before - 0.1 * torch.tensor(gradient) / ((moment / corrected) ** 0.5 + epsilon)
        torch.testing.assert_close(table[1], expected)
    assert rows.state[table]["updated"].tolist() == [0, 5, 0]


@pytest.mark.parametrize("name", DENSE)
def test_other_rows_and_their_state_stay(name: str) -> None:
    table = torch.randn(6, 3)
    before = table.clone()
    rows = RowOptimizer([table], settings(optimizer=name))
    rows.update(0, table, torch.tensor([4, 1]), torch.ones(2, 3), 0.1, 0.5)
    untouched = [0, 2, 3, 5]
    assert torch.equal(table[untouched], before[untouched])
    assert (table[[1, 4]] != before[[1, 4]]).all()
    assert all((value[untouched] == 0).all() for value in rows.state[table].values())


def test_a_row_is_scaled_as_a_whole() -> None:
    table = torch.zeros(1, 2)
    RowOptimizer([table], settings()).update(0, table, torch.tensor([0]), torch.tensor([[3.0, 4.0]]), 0.1, 0.0)
    torch.testing.assert_close(table, -0.1 * torch.tensor([[3.0, 4.0]]) / 12.5**0.5)
