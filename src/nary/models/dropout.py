"""Dropout whose random numbers cost little on a CPU."""

import torch
from torch import Tensor, nn


class Dropout(nn.Module):
    """Inverted dropout.

    The framework draws a random number for every element, which costs a CPU as much as a matrix product. Here eight
    elements share one: an element is dropped if its byte is below a threshold, so the rate is a multiple of 1/256. The
    scale of what is kept belongs to the rate as it really is.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.threshold = min(round(256 * rate), 255)

    def forward(self, x: Tensor) -> Tensor:
        """The same shape, zeros where dropped."""
        if not self.training or not self.threshold:
            return x
        if x.device.type != "cpu":
            return nn.functional.dropout(x, self.threshold / 256)
        words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
        kept = words.view(torch.uint8)[: x.numel()].view(x.shape) >= self.threshold
        return x * kept.to(x.dtype).mul_(256 / (256 - self.threshold))
