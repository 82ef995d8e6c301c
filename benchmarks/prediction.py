"""How long one prediction takes, warm, one query at a time: a GRAN with random weights over a dataset's vocabulary.

    python benchmarks/prediction.py --data jf17k [--layers 12] [--queries 300] [--json]

Queries ask for every position of test facts in turn. The plain implementation encodes, scores and sorts the same query.
``cpu`` figures are processor time, for machines that are busy with other things.
"""

import argparse
import itertools
import statistics

import numpy as np
import torch
from common import cpu_seconds, parser, peak_bytes, plain_twin, random_gran, seconds, settings_of, show
from reference.gran import encode

from nary.data.load import load
from nary.facts import Query
from nary.inference.predictor import Predictor

_TURN = 20  # queries one after the other, as people ask them; the other model empties the processor's caches


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Take turns and compare."""
    data = load(options.data)
    settings = settings_of(options)
    predictor = Predictor(random_gran(data, settings), data)
    plain = plain_twin(data, settings).eval()
    queries: list[tuple[Query, np.ndarray, int]] = []
    for number, fact in enumerate(itertools.islice(data.test.facts(data.vocabulary), 0, None, 7)):
        positions = list(fact.elements())
        column = number % len(positions)
        row = [
            data.vocabulary.entity(name) if position.role.is_entity else data.vocabulary.relation(name)
            for position, name in fact.elements().items()
        ]
        queries.append((fact.query(positions[column]), np.array([row]), column))
        if len(queries) == options.queries:
            break

    def ours(query: Query) -> None:
        predictor.predict(query, k=10)

    @torch.inference_mode()
    def theirs(row: np.ndarray, column: int) -> None:
        plain(*encode(row, np.array([column]), plain.config))[0].softmax(-1).argsort(descending=True)[:10].tolist()

    for query, row, column in queries[:_TURN]:
        ours(query)
        theirs(row, column)
    memory = peak_bytes()
    times, plain_times, cpu_times, plain_cpu_times = [], [], [], []
    for start in range(0, len(queries), _TURN):
        turn = queries[start : start + _TURN]
        for measured, clock in ((times, seconds), (cpu_times, cpu_seconds)):
            measured += [clock(lambda query=query: ours(query)) for query, _, _ in turn]
        for measured, clock in ((plain_times, seconds), (plain_cpu_times, cpu_seconds)):
            measured += [clock(lambda row=row, column=column: theirs(row, column)) for _, row, column in turn]
    milliseconds = sorted(1000 * time for time in times)
    return {
        "data": options.data,
        "layers": settings.num_layers,
        "width": settings.hidden_dim,
        "entities": len(data.vocabulary.entities),
        "threads": torch.get_num_threads(),
        "queries": len(queries),
        "ratio": statistics.median(plain_times) / statistics.median(times),
        "p50_ms": statistics.median(milliseconds),
        "p95_ms": milliseconds[int(0.95 * len(milliseconds))],
        "plain_p50_ms": 1000 * statistics.median(plain_times),
        "cpu_ratio": statistics.median(plain_cpu_times) / statistics.median(cpu_times),
        "cpu_p50_ms": 1000 * statistics.median(cpu_times),
        "plain_cpu_p50_ms": 1000 * statistics.median(plain_cpu_times),
        "peak_bytes": memory,
    }


def main() -> None:
    """Measure and print."""
    options = parser(__doc__)
    options.add_argument("--queries", type=int, default=300)
    chosen = options.parse_args()
    show(measure(chosen), chosen.json)


if __name__ == "__main__":
    main()
