"""``auto`` on a generated company-like graph, beside each of its parts, frequency, and plain counting.

    python benchmarks/company.py [--edges 11000] [--minutes 10] [--seed 0] [--out RUN] [--json]

The question is the object of each edge, with all its properties given, dates and amounts included, on test facts: where
does someone live, where do they work, to whom do they report. The counting baseline (``tests/reference/counting.py``)
answers with what goes together with each given element, and with the other facts of the subject, in train. Figures are
MRR by relation, filtered, ties at their mean.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import polars as pl
from common import show
from reference.counting import counted_mrr, object_mrr

import nary
from nary.auto import MINUTES
from nary.data.company import EDGES, generate_property_graph
from nary.data.dataset import Dataset
from nary.data.transforms.splits import split_dataset
from nary.runs import BlendResult


def company(edges: int, seed: int) -> Dataset:
    """The edges as facts, as ``nary import edges.csv --nodes nodes.csv`` makes them, and split."""
    graph = generate_property_graph(edges, seed=seed)
    dates = graph.edges.with_columns(pl.col("date").str.to_date())
    return split_dataset(Dataset.from_dataframe(dates, nodes=graph.nodes, name="company"))


def main() -> None:
    """Generate, train, rank and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=EDGES)
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    dataset = company(given.edges, given.seed)
    if given.out is not None and given.out.exists():
        result = nary.resume(given.out)
    else:
        result = nary.train(dataset, model="auto", minutes=given.minutes, out=given.out)
    if not isinstance(result, BlendResult):
        raise AssertionError("auto gives a blend")
    frequency = nary.train(dataset, model="frequency", progress=False).model
    systems = {"frequency": object_mrr(frequency), "counting": counted_mrr(dataset)}
    for part, module in zip(result.parts, [*result.model.module.models, result.model.module], strict=True):
        systems[part.name] = object_mrr(replace(result.model, module=module))
    seconds = {part.name: part.seconds for part in result.parts}
    relations = sorted(systems["counting"])
    if given.json:
        show({"edges": given.edges, "seed": given.seed, "seconds": seconds, "mrr": systems}, as_json=True)
        return
    print("| object of | " + " | ".join(systems) + " |\n|---|" + "--:|" * len(systems))
    for relation in relations:
        print(f"| {relation} | " + " | ".join(f"{mrr[relation]:.3f}" for mrr in systems.values()) + " |")
    print("\nseconds:", ", ".join(f"{name} {cost:.0f}" for name, cost in seconds.items() if cost is not None))


if __name__ == "__main__":
    main()
