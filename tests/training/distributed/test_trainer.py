"""Several workers learn what one process learns."""

from pathlib import Path
from typing import Any

import pytest
from training.processes import run_workers
from training.worker_jobs import train_all

from nary.workers import ALONE


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[list[float], dict[str, Any]]]:
    return train_all(ALONE, tmp_path_factory.mktemp("alone"))


@pytest.mark.parametrize("size", [2, 3])
def test_workers_learn_what_one_process_learns(
    size: int, expected: list[tuple[list[float], dict[str, Any]]], tmp_path: Path
) -> None:
    results = run_workers(size, train_all, tmp_path)
    for number, (losses, weights) in enumerate(expected):
        for of_worker in results:
            assert of_worker is not None
            assert of_worker[number][0] == pytest.approx(losses, abs=1e-5)
        assert results[0] is not None
        for part, tensor in results[0][number][1].items():
            assert tensor == pytest.approx(weights[part], abs=2e-4), part
