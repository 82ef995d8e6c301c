"""Products of vectors: with a matrix, and as complex numbers with each other."""

import torch
from torch import Tensor


def product(vectors: Tensor, weight: Tensor) -> Tensor:
    """[n, d] times [d, e], perhaps in low precision; the result is as precise as the vectors, as it is to be summed."""
    return (vectors @ weight).to(vectors.dtype)


def rotated(vectors: Tensor, by: Tensor) -> Tensor:
    """The products [n, d] of vectors read as complex numbers, each of two neighboring coordinates.

    The published code makes a complex number of a coordinate of the first half and one of the second: this is the same
    with coordinates in another order.
    """
    first, second = (torch.view_as_complex(one.view(len(one), one.shape[1] // 2, 2)) for one in (vectors, by))
    return torch.view_as_real(first * second).flatten(-2)


def rotating(vector: Tensor, matrix: Tensor) -> Tensor:
    """The matrix [d, e] that does what rotating by ``vector`` [d] and then multiplying with ``matrix`` [d, e] does."""
    real, imaginary = vector.view(-1, 2, 1).unbind(1)
    upper, lower = matrix.view(-1, 2, matrix.shape[1]).unbind(1)
    return torch.stack([real * upper + imaginary * lower, real * lower - imaginary * upper], 1).flatten(0, 1)
