"""Queries ranked a second in float32, all positions, in turns with the plain implementation and its full sort a query.

    python benchmarks/ranking.py --data jf17k [--layers 12] [--facts 200] [--json]

Ours ranks the whole test split, with equal questions asked once; the plain one ranks ``--facts`` of its facts, taken
evenly from all arities, as it would need an hour for all. ``cpu_ratio`` compares processor time, for machines that are
busy with other things. ``useful_flops`` are those of a forward pass of each question.
"""

import argparse
import statistics

import numpy as np
import torch
from common import cpu_seconds, parser, peak_bytes, peak_flops, plain_twin, random_gran, seconds, settings_of, show
from reference.gran import known_answers, rank_all
from training import forward_flops

from nary.data.load import load
from nary.evaluation.evaluate import evaluate
from nary.evaluation.protocol import Protocol
from nary.evaluation.queries import mask_table
from nary.facts import FactTable, Role


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Take turns and compare."""
    data = load(options.data)
    settings = settings_of(options)
    model = random_gran(data, settings).eval()
    test = data.test
    asked, _ = mask_table(test, frozenset(Role))
    queries = sum(len(part) for part in asked)
    flops = 0.0
    for part in asked:
        columns = len(data.vocabulary.entities if part.kind == "entity" else data.vocabulary.relations)
        flops += (int(part.number_queries().max()) + 1) * forward_flops(part.ids.shape[1], columns, settings)

    def ours() -> None:
        evaluate(model, data, "test", Protocol())

    warm = FactTable([type(block)(block.ids[:20], block.rows[:20]) for block in test.blocks])
    evaluate(model, data, "test", Protocol(), table=warm)
    cpu_times: list[float] = []

    def timed() -> float:
        return seconds(lambda: cpu_times.append(cpu_seconds(ours)))

    times = [timed()]
    memory = peak_bytes()
    plain = plain_twin(data, settings)
    known = known_answers([block.ids for table in data.splits.values() for block in table.blocks], plain.config)
    step = max(1, len(test) // options.facts)
    chosen = [block.ids[::step] for block in test.blocks]
    plain_queries = sum(ids.size for ids in chosen)
    plain_times, plain_cpu_times, peaks = [], [], []

    def theirs() -> None:
        for ids in chosen:
            if len(ids):
                rank_all(plain, np.asarray(ids), known)

    for turn in range(options.rounds):
        plain_times.append(seconds(lambda: plain_cpu_times.append(cpu_seconds(theirs))))
        if turn:
            times.append(timed())
        peaks.append(peak_flops(torch.float32))
    per_second = queries / statistics.median(times)
    plain_per_second = plain_queries / statistics.median(plain_times)
    peak = statistics.median(peaks)
    useful = flops / statistics.median(times)
    return {
        "data": options.data,
        "layers": settings.num_layers,
        "width": settings.hidden_dim,
        "precision": "fp32",
        "threads": torch.get_num_threads(),
        "queries": queries,
        "plain_queries": plain_queries,
        "ratio": per_second / plain_per_second,
        "cpu_ratio": queries / statistics.median(cpu_times) / (plain_queries / statistics.median(plain_cpu_times)),
        "queries_per_second": per_second,
        "plain_queries_per_second": plain_per_second,
        "useful_flops": useful,
        "peak_flops": peak,
        "share_of_peak": useful / peak,
        "peak_bytes": memory,
    }


def main() -> None:
    """Measure and print."""
    options = parser(__doc__)
    options.add_argument("--facts", type=int, default=200, help="about how many facts the plain one ranks")
    options.add_argument("--rounds", type=int, default=2)
    chosen = options.parse_args()
    show(measure(chosen), chosen.json)


if __name__ == "__main__":
    main()
