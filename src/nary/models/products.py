"""Matrix products for inference on a CPU, from the faster of the two libraries that torch has.

For float32 torch calls MKL, which does not use AVX-512 on processors by AMD. oneDNN does, and takes half the time.
"""

import platform
from pathlib import Path

import torch
from torch import Tensor, nn

from nary.models.layers import empty_aligned


def _prefer_onednn() -> bool:
    available = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    if not available or torch.backends.cpu.get_cpu_capability() != "AVX512":
        return False
    processors = Path("/proc/cpuinfo")
    return "AuthenticAMD" in (processors.read_text() if processors.is_file() else platform.processor())


ONEDNN = _prefer_onednn()
"""Whether oneDNN multiplies float32 faster than MKL on this processor."""
_MIN_PRODUCTS = 1 << 21  # multiplications from which it is worth the time that a call of oneDNN takes


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """X [..., i] times weight [o, i], plus bias [o]: as ``nn.functional.linear``."""
    if _with_onednn(x, weight):
        return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return nn.functional.linear(x, weight, bias)


def score_candidates(queries: Tensor, candidates: Tensor, bias: Tensor) -> Tensor:
    """The scores [B, C] of candidates [C, d] with ``bias`` [C] for queries [B, d]."""
    if _with_onednn(queries, candidates):
        return linear(queries, candidates, bias)
    # An output given as ``out`` has no gradient.
    out = None if torch.is_grad_enabled() else empty_aligned(queries, len(candidates))
    return torch.addmm(bias, queries, candidates.T, out=out)


def _with_onednn(x: Tensor, weight: Tensor) -> bool:
    """Whether oneDNN can and should multiply: it has no gradients, and no place in an exported program."""
    return (
        ONEDNN
        and not torch.is_grad_enabled()
        and x.numel() * len(weight) >= _MIN_PRODUCTS
        and x.dtype is torch.float32
        and x.device.type == "cpu"
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
    )


class Linear(nn.Linear):
    """``nn.Linear`` with the faster product."""

    def forward(self, input: Tensor) -> Tensor:
        """As in ``nn.Linear``."""
        return linear(input, self.weight, self.bias)
