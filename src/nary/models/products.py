"""Matrix products for inference on a CPU, from the faster of the two libraries that torch has.

For float32 torch calls MKL, which does not use AVX-512 on processors by AMD. oneDNN does, and takes half the time.
"""

import platform
from pathlib import Path
from typing import Any

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
_ROWS = 64  # for which weights are packed; it is the best order for fewer and for more rows too


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """X [..., i] times weight [o, i], plus bias [o]: as ``nn.functional.linear``."""
    if _prefers_onednn(x, weight):
        return torch.ops.mkldnn._linear_pointwise.default(x, weight, bias, "none", [], "")
    return nn.functional.linear(x, weight, bias)


def score_candidates(queries: Tensor, candidates: Tensor, bias: Tensor) -> Tensor:
    """The scores [B, C] of candidates [C, d] with ``bias`` [C] for queries [B, d]."""
    if _prefers_onednn(queries, candidates):
        return linear(queries, candidates, bias)
    # An output given as ``out`` has no gradient.
    out = None if torch.is_grad_enabled() else empty_aligned(queries, len(candidates))
    return torch.addmm(bias, queries, candidates.T, out=out)


def _prefers_onednn(x: Tensor, weight: Tensor) -> bool:
    return _can_use_onednn(x) and x.numel() * len(weight) >= _MIN_PRODUCTS


def _can_use_onednn(x: Tensor) -> bool:
    """Whether oneDNN can and should multiply: it has no gradients, and no place in an exported program."""
    return (
        ONEDNN
        and not torch.is_grad_enabled()
        and x.dtype is torch.float32
        and x.device.type == "cpu"
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
    )


class Linear(nn.Linear):
    """``nn.Linear`` with the faster product, followed by GELU or the addition of a residual if wanted.

    oneDNN reads weights in an order of its own. For inference in evaluation mode, the layer keeps a copy in that order
    until the weights change: for a few rows, reordering them is much of the time of a product.
    """

    _packed: tuple[tuple[int, int], Tensor] | None = None

    def forward(self, input: Tensor, *, gelu: bool = False, residual: Tensor | None = None) -> Tensor:
        """As in ``nn.Linear``, then GELU or ``residual`` added."""
        weight, bias = self.weight, self.bias
        if not self.training and _can_use_onednn(input) and not weight.is_inference():
            multiply, packed = torch.ops.mkldnn._linear_pointwise, self._pack(weight)
            if residual is not None:
                return multiply.binary(input, residual, packed, bias, "add")
            return multiply.default(input, packed, bias, "gelu" if gelu else "none", [], "none")
        if self._packed is not None and torch.is_grad_enabled():
            self._packed = None  # an optimizer may follow, and fused ones do not count as a change of the weights
        output = linear(input, weight, bias)
        if gelu:
            return nn.functional.gelu(output)
        return output if residual is None else residual + output

    def _pack(self, weight: Tensor) -> Tensor:
        version = (weight.data_ptr(), weight._version)
        if self._packed is None or self._packed[0] != version:
            self._packed = version, torch.ops.mkldnn._reorder_linear_weight(weight, _ROWS)
        return self._packed[1]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_packed": None}  # packed weights cannot be copied
