"""Updates of some rows of large tables, with one second moment a row.

It differs from the dense optimizers in this: rows that a step does not use stay as they are, also without the weight
decay of that step; there is no first moment; and a row has one second moment, of the root mean square of its gradient.
A step that did not use a row counts as one in which its gradient was zero, but the row is brought up to date only when
it is used again.
"""

from typing import Any

import torch
from torch import Tensor

from nary.training.settings import TrainingSettings

_BETA = 0.999


class RowOptimizer(torch.optim.Optimizer):
    """Adam, Adagrad or SGD for rows, as ``training.optimizer`` says.

    The state of a table has an entry a row: ``second_moment``, and for Adam ``updated``, the number of steps for which
    that accounts.
    """

    def __init__(self, parameters: list[Tensor], settings: TrainingSettings) -> None:
        super().__init__(parameters, {})
        self.settings = settings
        for parameter in parameters:
            state = self.state[parameter]
            if settings.optimizer != "sgd":
                state["second_moment"] = parameter.new_zeros(len(parameter))
            if settings.optimizer == "adam":
                state["updated"] = parameter.new_zeros(len(parameter), dtype=torch.int32)

    @torch.no_grad()
    def update(
        self, step: int, parameter: Tensor, rows: Tensor, gradient: Tensor, learning_rate: float, decay: float
    ) -> None:
        """Update the distinct ``rows`` [n] of a table with their ``gradient`` [n, ...] in a step, counted from 0."""
        values = parameter.index_select(0, rows)
        if self.settings.optimizer == "adam":
            values *= 1 - learning_rate * decay  # decoupled, as in AdamW
        elif decay:
            gradient = gradient + decay * values
        scale = self._scale(step, self.state[parameter], rows, gradient)
        values -= learning_rate * gradient * scale.view(-1, *[1] * (gradient.dim() - 1))
        parameter.index_copy_(0, rows, values)

    def _scale(self, step: int, state: dict[str, Any], rows: Tensor, gradient: Tensor) -> Tensor:
        """What each row of the gradient is multiplied with [n]; brings the state up to date."""
        if self.settings.optimizer == "sgd":
            return gradient.new_ones(len(rows))
        squares = gradient.square().flatten(1).mean(1) if gradient.dim() > 1 else gradient.square()
        moments = state["second_moment"].index_select(0, rows)
        if self.settings.optimizer == "adagrad":
            moments += squares
            state["second_moment"].index_copy_(0, rows, moments)
            return 1 / (moments.sqrt() + 1e-10)
        moments *= _BETA ** (step + 1 - state["updated"].index_select(0, rows))
        moments += (1 - _BETA) * squares
        state["second_moment"].index_copy_(0, rows, moments)
        state["updated"].index_fill_(0, rows, step + 1)
        correction = (1 - _BETA ** (step + 1)) ** 0.5
        epsilon = self.settings.adam_epsilon
        if self.settings.adam_epsilon_on == "corrected":
            return correction / (moments.sqrt() + epsilon * correction)
        return correction / (moments.sqrt() + epsilon)
