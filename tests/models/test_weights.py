"""Tensors on disk."""

from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import save

from nary.models.weights import is_finite, read_tensors, write_tensors

TYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool]
SHAPES = st.lists(st.integers(0, 3), max_size=3)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), st.tuples(SHAPES, st.sampled_from(TYPES))))
def test_a_file_has_the_bytes_that_the_library_writes(
    tmp_path: Path, kinds: dict[str, tuple[list[int], torch.dtype]]
) -> None:
    tensors = {name: (9 * torch.rand(shape)).to(dtype) for name, (shape, dtype) in kinds.items()}
    path = tmp_path / "tensors"
    write_tensors(tensors, path, {"state": "é"})
    assert path.read_bytes() == save(tensors, {"state": "é"})
    back = read_tensors(path, tensors)
    assert all(torch.equal(back[name], tensor) for name, tensor in tensors.items())


@pytest.mark.parametrize(("numbers", "finite"), [([], True), ([1.0], True), ([0.0, float("nan")], False)])
def test_what_is_no_number_is_noticed(numbers: list[float], finite: bool) -> None:
    assert is_finite(torch.tensor(numbers)) is finite
    assert not is_finite(torch.tensor([*numbers, -float("inf")]))
