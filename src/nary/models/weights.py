"""Tensors on disk: written whole or not at all, without times or paths, so that equal tensors give equal files."""

import os
from collections.abc import Mapping
from pathlib import Path

from safetensors.torch import save
from torch import Tensor

from nary.data.files import atomic_path


def write_tensors(tensors: Mapping[str, Tensor], path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write a safetensors file.

    The bytes go through Python's own files: the library's would hide what went wrong with the disk, and only their
    owner could read them.
    """
    content = save({name: tensor.detach().contiguous() for name, tensor in tensors.items()}, metadata)
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())  # the name must not appear before the content is on the disk
