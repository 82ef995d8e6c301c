"""What sampled candidates cost in quality: GRAN trained against all entities, and against samples of them.

    python benchmarks/candidates.py [--json] [--data jf17k-3] [--epochs 20] [--candidates 256,1024,4096]

The same model, seed and number of epochs each time; entity MRR on the test split, and the processor time of training.
``all`` is the cross-entropy against all entities.
"""

import argparse
import time

from common import show

from nary import load
from nary.recipe import Recipe
from nary.runs import prepare_dataset, train_recipe

SETTINGS = {
    "model.num_layers": 2,
    "model.hidden_dim": 128,
    "model.ffn_dim": 256,
    "training.batch_size": 512,
    "training.learning_rate": 2e-3,
    "training.shuffle": "instances",
    "training.merge_queries": True,
    "loss.entity_label_smoothing": 0.2,
}


def measure(data: str, epochs: int, candidates: int | None, seed: int) -> dict[str, object]:
    """Train and rank once; ``candidates`` is None for all entities."""
    loss = {"loss.name": "cross_entropy"}
    if candidates is not None:
        loss = {"loss.name": "sampled_softmax", "loss.num_candidates": candidates}
    dataset = load(data)
    recipe = Recipe.from_tables({"model": {"name": "gran"}, "data": {"name": data}}).with_overrides(
        {**loss, **SETTINGS, "training.epochs": epochs, "training.seed": seed}
    )
    start = time.process_time()
    result = train_recipe(prepare_dataset(dataset, recipe), recipe)
    seconds = time.process_time() - start
    mrr = result.model.evaluate("test").metrics["entity"]["mrr"]
    return {"candidates": candidates or "all", "mrr": round(mrr, 4), "seconds": round(seconds, 1)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--data", default="jf17k-3")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--candidates", default="256,1024,4096")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sizes = [None, *map(int, options.candidates.split(","))]
    runs = [measure(options.data, options.epochs, size, options.seed) for size in sizes]
    show({"data": options.data, "epochs": options.epochs, "runs": runs}, options.json)


if __name__ == "__main__":
    main()
