"""Tensors on disk, without times or paths: equal tensors give equal files.

Nothing in a file is trusted: its header must name the expected tensors, with their shapes and types, before any is
read. Code written in C may rely on the shape of a tensor without checking it, as fused optimizers do.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import orjson
import torch
from safetensors import safe_open
from torch import Tensor

_TYPES = {  # in the order of tensors in a file
    "I64": torch.int64,
    "F64": torch.float64,
    "F32": torch.float32,
    "I32": torch.int32,
    "BF16": torch.bfloat16,
    "F16": torch.float16,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
_NAMES = {dtype: name for name, dtype in _TYPES.items()}
_ORDER = {dtype: place for place, dtype in enumerate(_TYPES.values())}
_WRITTEN_AT_ONCE = 1 << 24  # numbers


def write_tensors(tensors: Mapping[str, Tensor], path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write a safetensors file in place, a tensor at a time.

    The bytes go through Python's own files: the library's would hide what went wrong with the disk, only their owner
    could read them, and they are all in memory before the first is written.
    """
    write_parts(tensors, lambda name: [tensors[name]], path, metadata)


def write_parts(
    outline: Mapping[str, Tensor],
    parts: Callable[[str], Iterable[Tensor]],
    path: Path,
    metadata: dict[str, str] | None = None,
) -> None:
    """Write the same file from ``parts`` of each tensor, its rows in order; ``outline`` has the shapes and types."""
    names = in_file_order(outline)
    header: dict[str, object] = {} if metadata is None else {"__metadata__": dict(sorted(metadata.items()))}
    end = 0
    for name in names:
        tensor = outline[name]
        start, end = end, end + tensor.nbytes
        header[name] = {"dtype": _NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [start, end]}
    text = orjson.dumps(header)
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for flat in (part.detach().contiguous().view(-1) for name in names for part in parts(name)):
            for piece in torch.split(flat, _WRITTEN_AT_ONCE):
                file.write(piece.cpu().view(torch.uint8).numpy().data)


def in_file_order(outline: Mapping[str, Tensor]) -> list[str]:
    """The names of tensors in the order of a file, which is that of the library."""
    return sorted(outline, key=lambda name: (_ORDER[outline[name].dtype], name))


def read_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """The shapes of the tensors, from the header of the file."""
    with safe_open(path, framework="pt") as file:
        return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118


def read_metadata(path: Path) -> dict[str, str]:
    """The metadata in the header of the file."""
    with safe_open(path, framework="pt") as file:
        return file.metadata() or {}


def read_tensors(path: Path, expected: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a file, once its header is known to hold those of the names, shapes and types of ``expected``.

    Raises ValueError if it does not, or if a tensor is not finite.
    """
    with safe_open(path, framework="pt") as file:
        headers = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
        if strange := set(expected) ^ set(headers):
            raise ValueError(f"{min(strange)} is missing, or not part of this model")
        for name, tensor in expected.items():
            shape, dtype = tuple(headers[name].get_shape()), _TYPES.get(headers[name].get_dtype())
            if shape != tuple(tensor.shape):
                raise ValueError(f"{name} is of shape {shape}, not {tuple(tensor.shape)}")
            if dtype != tensor.dtype:
                raise ValueError(f"{name} is of {dtype}, not {tensor.dtype}")
        tensors = {name: file.get_tensor(name) for name in expected}
    for name, tensor in tensors.items():
        if not is_finite(tensor):
            raise ValueError(f"{name} holds what is no number")
    return tensors


def map_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a file that this run has written, mapped into memory."""
    with safe_open(path, framework="pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def is_finite(tensor: Tensor) -> bool:
    """Whether all numbers of a tensor are finite, without a copy of it."""
    return not tensor.numel() or all(bool(bound.isfinite()) for bound in tensor.detach().aminmax())
