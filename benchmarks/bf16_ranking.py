"""Exact ranks from scores in bfloat16, in turns with scores in float32, after the encoder.

    python benchmarks/bf16_ranking.py RUN [--queries 256] [--rounds 20] [--json]

A score in bfloat16 differs from the exact one by at most a bound that follows from the lengths of query, entities and
their rounding errors. Candidates outside of it are counted by their bfloat16 score; those within are scored again in
float32. ``checked`` is how many these are for each query, ``ratio`` how many times as fast that is as float32.
"""

import argparse
import statistics

import numpy as np
import numpy.typing as npt
import torch
from common import cpu_seconds, show
from torch import Tensor

from nary.data.load import resolve
from nary.evaluation.queries import mask_table
from nary.evaluation.ranks import _count_all
from nary.facts import Role
from nary.models.batch import Batch, Group
from nary.models.products import score_candidates
from nary.runs import load_model

_ROUNDING = 2.0**-9  # relative error of a number in bfloat16


class Bf16Counter:
    """Counts the entities that score higher than an answer."""

    def __init__(self, entities: Tensor, bias: Tensor) -> None:
        self._exact = torch.cat([entities, bias[:, None]], dim=1)
        self._numpy = self._exact.numpy()
        self._table = self._exact.bfloat16()
        self._length = self._exact.norm(dim=1).max()
        self._error = (self._exact - self._table.float()).norm(dim=1).max()
        self.checked = 0

    def count(self, queries: Tensor, answers: Tensor) -> list[int]:
        """How many score higher than each answer [q]."""
        exact = torch.cat([queries, queries.new_ones(len(queries), 1)], dim=1)
        rounded = exact.bfloat16()
        scores = rounded @ self._table.T
        gold = (exact * self._exact[answers]).sum(1)
        error = (exact - rounded.float()).norm(dim=1)
        bound = error * self._length + rounded.float().norm(dim=1) * self._error
        margin = bound + 4 * _ROUNDING * (gold.abs() + bound)  # for rounding scores and limits
        low, high = gold - margin, gold + margin
        # Compared as integers, which numpy has: as such, bfloat16 numbers are ordered, negative ones in reverse.
        keys, near = scores.view(torch.int16).numpy(), np.empty(len(self._table), bool)
        limits = zip(*(_keys(limit) for limit in (low, high)), strict=True)
        self.checked, higher = 0, []
        for i, (least, most) in enumerate(limits):
            _above(keys[i], least, near)
            unsure = np.flatnonzero(near)
            sure = np.empty(len(unsure), bool)
            _above(keys[i][unsure], most, sure)
            unsure = unsure[~sure & (unsure != answers[i].item())]
            self.checked += len(unsure)
            exact_scores = self._numpy[unsure] @ exact[i].numpy()
            higher.append(int(np.count_nonzero(sure)) + int(np.count_nonzero(exact_scores > gold[i].item())))
        return higher


def _keys(limits: Tensor) -> list[int]:
    return limits.bfloat16().view(torch.int16).tolist()


def _above(keys: npt.NDArray[np.int16], limit: int, out: npt.NDArray[np.bool_]) -> None:
    """Whether numbers, given as integers, are above ``limit``."""
    if limit >= 0:
        np.greater(keys, limit, out=out)
    else:
        np.less(keys, limit, out=out)
        np.logical_or(out, keys >= 0, out=out)


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Take turns and compare."""
    model = load_model(options.run)
    blocks, _ = mask_table(resolve(model.dataset.name).splits["test"], (Role.SUBJECT,))
    masked = max(blocks, key=len)
    ids = torch.from_numpy(masked.ids[: options.queries].astype(np.int64))
    answers = torch.from_numpy(masked.answers[: options.queries])
    times: dict[str, list[float]] = {"float32": [], "bfloat16": []}
    with torch.inference_mode():
        queries = model.module.encode(Batch([Group(ids, torch.full((len(ids),), masked.column))]))
        entities, bias = model.module.candidates("entity")
        counter = Bf16Counter(entities, bias)
        rows = np.arange(len(ids))

        def plain() -> list[int]:
            scores = score_candidates(queries, entities, bias).numpy()
            return _count_all(scores, rows, scores[rows, answers.numpy()], None)[0].tolist()

        differences = sum(a != b for a, b in zip(plain(), counter.count(queries, answers), strict=True))
        for _ in range(options.rounds):
            times["float32"].append(cpu_seconds(plain))
            times["bfloat16"].append(cpu_seconds(lambda: counter.count(queries, answers)))
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    return {
        "queries": len(ids),
        "entities": len(entities),
        "milliseconds": 1000 * medians["float32"],
        "bf16_milliseconds": 1000 * medians["bfloat16"],
        "ratio": medians["float32"] / medians["bfloat16"],
        "checked": counter.checked / len(ids),
        "different_ranks": differences,
    }


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("run", help="a trained GRAN on a dataset of the catalog")
    options.add_argument("--queries", type=int, default=256, help="as many as ranking scores at a time")
    options.add_argument("--rounds", type=int, default=20)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    show(measure(chosen), chosen.json)


if __name__ == "__main__":
    main()
