"""What one step of training learns from."""

from dataclasses import dataclass

import torch
from torch import Tensor

from nary.models.batch import Batch


@dataclass(frozen=True)
class Lesson:
    """Masked facts [B] and their answers [K]: one each, or more where equal questions are merged.

    ``rows`` [K] says which fact of the batch an answer belongs to, ``weights`` [K] how much it counts.
    """

    batch: Batch
    rows: Tensor
    answers: Tensor
    weights: Tensor

    @classmethod
    def of(cls, batch: Batch) -> "Lesson":
        """Every masked fact with the one answer that it hides."""
        return cls(batch, torch.arange(len(batch)), batch.answers, torch.ones(len(batch)))

    def to(self, device: torch.device) -> "Lesson":
        """The same lesson on ``device``."""
        parts = (part.to(device) for part in (self.rows, self.answers, self.weights))
        return Lesson(self.batch.to(device), *parts)
