"""The weights of all workers in one file, and that no worker holds whole tables."""

from dataclasses import replace
from pathlib import Path

import pytest
from runs.small import small_data, small_recipe, start_in
from training.processes import run_workers
from training.worker_jobs import largest_memory, untrained, write_whole_file

from nary.facts import Vocabulary
from nary.models.weights import write_tensors
from nary.workers import ALONE

_MANY = 5000  # entities: a table is then larger than anything else


@pytest.mark.parametrize("size", [2, 3])
def test_the_file_is_that_of_a_process_without_others(size: int, tmp_path: Path) -> None:
    write_tensors(untrained(ALONE).state_dict(), tmp_path / "expected", {"step": "1"})
    run_workers(size, write_whole_file, tmp_path / "written")
    assert (tmp_path / "written").read_bytes() == (tmp_path / "expected").read_bytes()


@pytest.mark.parametrize(("loss", "validates"), [("cross_entropy", 1), ("sampled_softmax", 1), ("sampled_softmax", 0)])
def test_no_worker_holds_a_whole_table(loss: str, validates: int, tmp_path: Path) -> None:
    data = small_data()
    more = tuple(f"unused {number}" for number in range(_MANY - len(data.vocabulary.entities)))
    vocabulary = Vocabulary((*data.vocabulary.entities, *more), data.vocabulary.relations)
    changed = {"loss__name": loss, "training__eval_every": validates, "evaluation__memory": 1 << 16}
    recipe = small_recipe(data, **changed, training__batch_size=8, training__max_steps=3)
    start_in(tmp_path / "run", replace(data, vocabulary=vocabulary), recipe)
    table = 4 * _MANY * 16
    for largest in run_workers(2, largest_memory, tmp_path / "run"):
        assert largest is not None
        assert largest < 0.6 * table
