"""Numbers and dates embedded as entities, and by their value: what that changes for GRAN.

    python benchmarks/literals.py [--data company|wikipeople|dated] [--epochs 10] [--knots 64] [--seed 0] [--json]

``company`` is the generated property graph, ``wikipeople`` that benchmark without the binary training facts that have a
date, which could not be obtained, and ``dated`` those of its facts in which a date stands. The model has the sizes that
``nary train --model gran`` chooses for data without a recipe, but vectors of 64. Figures are of test facts: the
filtered MRR of entities, of literals that train has and of those that it has not; the mean absolute error of literals,
and how many of them are in the 80% interval. The baseline answers with the median of train.
"""

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import nary
from nary.data.company import generate_property_graph
from nary.data.dataset import Dataset
from nary.data.transforms.reindex import drop_unused_names
from nary.data.transforms.splits import split_dataset
from nary.evaluation.guesses import ALL_SLOTS
from nary.recipe import choose_recipe
from nary.runs import TrainedModel, prepare_dataset, train_recipe

WIDTH = 64


def company(seed: int) -> Dataset:
    """The generated property graph, with its amounts as literals; its dates are random, and stay texts."""
    graph = generate_property_graph(seed=seed)
    return split_dataset(Dataset.from_dataframe(graph.edges, nodes=graph.nodes, name="company"))


def dated_facts(dataset: Dataset) -> Dataset:
    """The facts in which a literal stands."""
    scales, _ = dataset.vocabulary.scales.by_entity(len(dataset.vocabulary.entities))
    splits = {}
    for split, table in dataset.splits.items():
        rows = [block.rows[(scales[block.entities] >= 0).any(1)] for block in table.blocks]
        splits[split] = table.take(np.concatenate(rows))
    return Dataset(f"{dataset.name}, dated", *drop_unused_names(dataset.vocabulary, splits))


DATA: dict[str, Callable[[int], Dataset]] = {
    "company": company,
    "wikipeople": lambda _: nary.load("wikipeople"),
    "dated": lambda _: dated_facts(nary.load("wikipeople")),
}


def figures(model: TrainedModel) -> dict[str, Any]:
    """MRR by what the answer is, and the errors of literals."""
    report, ranks = model.rank("test")
    is_entity = np.isin(ranks.role, [1, 2, 4])  # subjects, objects, values
    scales, _ = model.vocabulary.scales.by_entity(len(model.vocabulary.entities))
    seen = np.zeros(len(scales), bool)
    for block in model.dataset.train.blocks:
        seen[block.entities] = True
    is_literal = is_entity & (scales[np.where(is_entity, ranks.answer, 0)] >= 0)
    is_seen = seen[np.where(is_entity, ranks.answer, 0)]
    groups = {"entities": is_entity & ~is_literal, "seen literals": is_literal & is_seen}
    groups["unseen literals"] = is_literal & ~is_seen
    mrr = {name: float((1 / ranks.rank()[chosen]).mean()) for name, chosen in groups.items() if chosen.any()}
    return {"mrr": mrr, "literals": {slot: dict(metrics) for slot, metrics in report.literals.items()}}


def main() -> None:
    """Train with and without, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", choices=DATA, default="company")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--knots", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    dataset = DATA[given.data](given.seed)
    results = {}
    for name, knots in (("as entities", 0), ("by value", given.knots)):
        overrides = {"model.value_knots": knots, "model.hidden_dim": WIDTH, "model.ffn_dim": 2 * WIDTH}
        overrides |= {"training.epochs": given.epochs, "training.learning_rate": 5e-3, "training.precision": "fp32"}
        recipe = choose_recipe("literals", "gran", overrides=overrides, num_facts=len(dataset.facts))
        start = time.process_time()
        model = train_recipe(prepare_dataset(dataset, recipe), recipe).model
        results[name] = {"seconds": time.process_time() - start, **figures(model)}
    if given.json:
        print(json.dumps(results, indent=2))
        return
    for name, result in results.items():
        print(f"{name}: {result['seconds']:.0f} seconds of the processor")
        print("  MRR of", ", ".join(f"{group} {mrr:.3f}" for group, mrr in result["mrr"].items()))
        for slot, metrics in list(result["literals"].items())[:6]:
            baseline = f"baseline {metrics['usual_mae']:,.4g}, in interval {metrics['in_interval']:.0%}"
            unit = " (in units of the spread)" if slot == ALL_SLOTS else ""
            print(f"  {slot}{unit}: MAE {metrics['mae']:,.4g}, median error {metrics['median_error']:,.4g}, {baseline}")


if __name__ == "__main__":
    main()
