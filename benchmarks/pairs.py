"""Queries ranked a second by a model that judges whole facts, in turns with brute force.

    python benchmarks/pairs.py --model nalp --data jf17k [--queries 1000] [--plain-queries 20] [--json]

Both rank all elements of the same seeded sample of test facts, with the published sizes and random weights. Brute force
puts every candidate into the fact and sends these facts, ``--batch`` at a time, through the whole network of
``tests/reference``. It would need hours for all, so it ranks only the first facts of the sample: ``plain_queries``
elements. Ours shares work between queries of one role, so the more there are, the less time each takes.
"""

import argparse
import statistics

import numpy as np
import torch
from common import peak_bytes, seconds, show
from reference.pairs import plain_scores
from torch import Tensor

from nary.data.dataset import Dataset
from nary.data.load import load
from nary.evaluation.known import KnownAnswers
from nary.evaluation.protocol import Protocol
from nary.evaluation.ranks import rank
from nary.facts import FactTable
from nary.models.base import DatasetInfo, Kind, Model
from nary.models.batch import Batch
from nary.models.registry import MODELS


class BruteForce(Model):
    """Scores every candidate by the whole fact that it makes."""

    name = "brute force"

    def __init__(self, model: Model, batch: int) -> None:
        super().__init__(model.settings, model.info)
        self.model = model
        self.batch = batch

    def score(self, batch: Batch, kind: Kind) -> Tensor:
        """Scores [B, C] of all candidates."""
        candidates = self.info.num_candidates(kind)
        rows = []
        for group in batch.groups:
            for ids, column in zip(group.ids, group.columns.tolist(), strict=True):
                facts = ids.repeat(candidates, 1)
                facts[:, column] = torch.arange(candidates)
                rows.append(torch.cat([plain_scores(self.model, part) for part in torch.split(facts, self.batch)]))
        return torch.stack(rows)


def sample(data: Dataset, queries: int) -> FactTable:
    """Random facts of test, as many as have so many elements together."""
    elements = np.concatenate([np.full(len(block), block.ids.shape[1]) for block in data.test.blocks])
    places = np.concatenate([block.rows for block in data.test.blocks])
    order = np.random.default_rng(0).permutation(len(places))
    count = int(np.searchsorted(np.cumsum(elements[order]), queries)) + 1
    return data.test.take(places[order[:count]])


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Take turns and compare."""
    data, protocol = load(options.data), Protocol()
    model_class = MODELS.get(options.model)
    torch.manual_seed(0)
    model = model_class(model_class.settings_class(), DatasetInfo.from_dataset(data))
    brute = BruteForce(model, options.batch)
    known = KnownAnswers(list(data.splits.values()), protocol.filter)
    whole, part = sample(data, options.queries), sample(data, options.plain_queries)
    rank(model, sample(data, 1), known, protocol)  # warm up
    times, plain_times = [], []
    for _ in range(options.rounds):
        times.append(seconds(lambda: rank(model, whole, known, protocol)))
        plain_times.append(seconds(lambda: rank(brute, part, known, protocol)))
    queries, plain_queries = (sum(block.ids.size for block in table.blocks) for table in (whole, part))
    per_second = queries / statistics.median(times)
    plain_per_second = plain_queries / statistics.median(plain_times)
    return {
        "model": options.model,
        "data": options.data,
        "threads": torch.get_num_threads(),
        "queries": queries,
        "plain_queries": plain_queries,
        "ratio": per_second / plain_per_second,
        "queries_per_second": per_second,
        "plain_queries_per_second": plain_per_second,
        "peak_bytes": peak_bytes(),
    }


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", choices=("nalp", "hinge", "neuinfer"), default="nalp")
    options.add_argument("--data", default="jf17k")
    options.add_argument("--queries", type=int, default=1000, help="about how many ours ranks")
    options.add_argument("--plain-queries", type=int, default=20, help="about how many brute force ranks")
    options.add_argument("--batch", type=int, default=1024, help="facts at a time for brute force")
    options.add_argument("--rounds", type=int, default=3, help="the median leaves out the one that compiles")
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    show(measure(chosen), chosen.json)


if __name__ == "__main__":
    main()
