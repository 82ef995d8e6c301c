"""Training in turns: epochs of the objective, then of other losses, over and over."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from nary.models.batch import Batch


@dataclass(frozen=True, eq=False)
class Phase:
    """So many epochs with a loss of their own, which Adam makes smaller by changing ``parameters`` alone."""

    epochs: int
    loss: Callable[[Batch], Tensor]
    parameters: Sequence[Tensor]
    rate: float


@dataclass(frozen=True)
class Alternation:
    """A round: so many epochs of what ``[training]`` says, then the phases. Rounds follow each other to the end."""

    epochs: int
    phases: Sequence[Phase]

    def at(self, epoch: int) -> Phase | None:
        """The phase of an epoch, counted from 0; None if it is one of what ``[training]`` says."""
        place = epoch % (self.epochs + sum(phase.epochs for phase in self.phases)) - self.epochs
        if place < 0:
            return None
        for phase in self.phases:
            if place < phase.epochs:
                return phase
            place -= phase.epochs
        raise AssertionError("a round ends with its last phase")
