"""Matrix products on a CPU, from the faster of the two libraries that torch has.

For float32 torch calls MKL, which does not use AVX-512 on processors by AMD; oneDNN does, and takes half the time, but
has no gradients. For bfloat16 torch calls oneDNN, but writes the bias of a layer first and adds the product to it; here
one call does both.
"""

import platform
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from nary.models.layers import empty_aligned


def _prefer_onednn() -> bool:
    available = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    if not available or torch.backends.cpu.get_cpu_capability() != "AVX512":
        return False
    processors = Path("/proc/cpuinfo")
    return "AuthenticAMD" in (processors.read_text() if processors.is_file() else platform.processor())


ONEDNN = _prefer_onednn()
"""Whether oneDNN multiplies float32 faster than MKL on this processor."""
_ONEDNN_BFLOAT16 = (
    torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    and torch.ops.mkldnn._is_mkldnn_bf16_supported()
)
_MIN_PRODUCTS = 1 << 21  # multiplications from which it is worth the time that a call of oneDNN takes
_MIN_ROWS = 2048  # from which adding the bias within a product saves time: fewer stay in the processor's caches
_ROWS = 64  # for which weights are packed; it is the best order for fewer and for more rows too


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """X [..., i] times weight [o, i], plus bias [o]: as ``nn.functional.linear``."""
    if _prefers_onednn(x, weight):
        return torch.ops.mkldnn._linear_pointwise.default(x, weight, bias, "none", [], "")
    if bias is not None and _trains_in_bfloat16(x):
        rounded = (part.to(torch.bfloat16) for part in (x, weight, bias))
        product: Tensor = _Bfloat16Linear.apply(*rounded)  # type: ignore[no-untyped-call]
        return product
    return nn.functional.linear(x, weight, bias)


class _Bfloat16Linear(torch.autograd.Function):
    """A linear layer in bfloat16 whose bias is added within the product: x [n, i], weight [o, i] and bias [o]."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        product: Tensor = torch.ops.mkldnn._linear_pointwise.default(x, weight, bias, "none", [], "")
        return product

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        of_x, of_weight, of_bias = ctx.needs_input_grad
        return (
            grad @ weight if of_x else None,
            grad.T @ x if of_weight else None,
            grad.sum(0) if of_bias else None,
        )


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


def _trains_in_bfloat16(x: Tensor) -> bool:
    """Whether torch would multiply the rows of a training batch in bfloat16, by oneDNN."""
    return (
        x.dim() == 2
        and len(x) >= _MIN_ROWS
        and x.device.type == "cpu"
        and torch.is_grad_enabled()
        and torch.is_autocast_enabled("cpu")
        and torch.get_autocast_dtype("cpu") is torch.bfloat16
        and not torch.compiler.is_compiling()
        and _ONEDNN_BFLOAT16
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
