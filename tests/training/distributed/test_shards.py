"""The rows of a worker, read from what other numbers of workers have written."""

from math import gcd
from pathlib import Path

import pytest
import torch

from nary.models.weights import write_tensors
from nary.training.distributed.shards import ShardReader
from nary.training.distributed.tables import cut_rows
from nary.workers import Workers

NAMES = ["model.entity", "optimizer.0.moment"]


@pytest.mark.parametrize("written_by", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_rows_are_read_whoever_wrote_them(written_by: int, size: int, tmp_path: Path) -> None:
    first, entities, after = 2, 11, 1
    table = torch.arange(3.0 * (first + entities + after)).view(-1, 3)
    paths = [tmp_path / str(rank) for rank in range(written_by)]
    for rank, path in enumerate(paths):
        rows = cut_rows(table, first, entities, Workers(rank, written_by))
        write_tensors(dict.fromkeys(NAMES, rows), path)
    for rank in range(size):
        expected = cut_rows(table, first, entities, Workers(rank, size))
        weights = torch.zeros_like(expected)
        reader = ShardReader(dict.fromkeys(NAMES, weights), dict.fromkeys(NAMES, first), entities, Workers(rank, size))
        checked: list[Path] = []
        reader.read(paths, checked.append)
        assert all(torch.equal(reader.rows[name], expected) for name in NAMES)
        assert torch.equal(weights, expected)  # read in place
        assert len(checked) == written_by // gcd(written_by, size)  # the others have none of its rows
