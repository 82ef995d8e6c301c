"""Alternating training: epochs of the configured loss, then epochs of other losses, in rounds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from nary.models.batch import Batch


@dataclass(frozen=True, eq=False)
class Phase:
    """Epochs with a loss of their own, in which Adam updates ``parameters`` alone."""

    epochs: int
    loss: Callable[[Batch], Tensor]
    parameters: Sequence[Tensor]
    rate: float
    """The learning rate."""


@dataclass(frozen=True)
class Alternation:
    """A round: ``epochs`` of the loss in ``[training]``, then the phases. Rounds repeat until training ends."""

    epochs: int
    phases: Sequence[Phase]

    def at(self, epoch: int) -> Phase | None:
        """The phase of an epoch, counted from 0; None for an epoch of the loss in ``[training]``."""
        place = epoch % (self.epochs + sum(phase.epochs for phase in self.phases)) - self.epochs
        if place < 0:
            return None
        for phase in self.phases:
            if place < phase.epochs:
                return phase
            place -= phase.epochs
        raise AssertionError("a round ends with its last phase")
