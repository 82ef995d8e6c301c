"""Products with a sparse matrix that stays as it is."""

from typing import Any

import torch
from torch import Tensor, nn


class SparseMatrix(nn.Module):
    """A matrix [n, m] with few entries, by rows and by columns: the gradient of a product is a product like it.

    A row of the product is a sum of a few rows, made without an array of them all.
    """

    def __init__(self, rows: Tensor, columns: Tensor, shape: tuple[int, int], values: Tensor | None = None) -> None:
        super().__init__()
        values = torch.ones(len(rows)) if values is None else values
        for name, own, others, size in (("row", rows, columns, shape[0]), ("column", columns, rows, shape[1])):
            order = own.argsort(stable=True)
            starts = torch.searchsorted(own[order], torch.arange(size))
            for part, content in (("others", others[order]), ("starts", starts), ("values", values[order])):
                self.register_buffer(f"{name}_{part}", content, persistent=False)

    def forward(self, dense: Tensor) -> Tensor:
        """[m, d] -> [n, d]"""
        product: Tensor = _Product.apply(dense, self)  # type: ignore[no-untyped-call]
        return product

    def sums(self, dense: Tensor, by: str) -> Tensor:
        """For each row, or by each column, the weighted sum of the rows of ``dense`` that belong to its entries."""
        others, starts, values = (getattr(self, f"{by}_{part}") for part in ("others", "starts", "values"))
        values = values.to(dense.dtype)
        return nn.functional.embedding_bag(others, dense, starts, mode="sum", per_sample_weights=values)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: SparseMatrix) -> Tensor:
        ctx.matrix = matrix
        return matrix.sums(dense, "row")

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return ctx.matrix.sums(grad.contiguous(), "column"), None
