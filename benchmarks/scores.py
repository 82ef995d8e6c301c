"""The product that scores all candidates, in turns into rows that start at lines of the cache and rows that do not.

    python benchmarks/scores.py [--entities 28645] [--width 256] [--queries 146] [--json]

``ratio`` is how many times as long it takes without.
"""

import argparse
import statistics

import torch
from common import seconds, show

from nary.models.layers import empty_aligned


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Take turns and compare."""
    table = torch.randn(options.entities, options.width)
    queries = torch.randn(options.queries, options.width)
    rooms = {"aligned": empty_aligned(queries, len(table)), "plain": queries.new_empty(len(queries), len(table))}
    times: dict[str, list[float]] = {name: [] for name in rooms}
    for turn in range(options.rounds + 1):
        for name, room in rooms.items():
            taken = seconds(lambda room=room: torch.mm(queries, table.T, out=room))
            if turn:  # the first is for warming up
                times[name].append(taken)
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    flops = 2 * options.queries * options.entities * options.width
    return {
        "entities": options.entities,
        "width": options.width,
        "queries": options.queries,
        "threads": torch.get_num_threads(),
        "ratio": medians["plain"] / medians["aligned"],
        "flops": flops / medians["aligned"],
        "plain_flops": flops / medians["plain"],
    }


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--entities", type=int, default=28645, help="as many as jf17k has, unless told")
    options.add_argument("--width", type=int, default=256)
    options.add_argument("--queries", type=int, default=146, help="as many as a loss over jf17k takes at a time")
    options.add_argument("--rounds", type=int, default=20)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    show(measure(chosen), chosen.json)


if __name__ == "__main__":
    main()
