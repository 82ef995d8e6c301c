"""Invented result records, for tests of what is made from them."""

from pathlib import Path
from typing import Any

import orjson

from nary.reproduction.experiments import all_experiments

PUBLISHED = """
[sources]
paper = "A paper"

[notes]
"gran/jf17k-4-fast" = "it is small"

[[figure]]
dataset = "jf17k-4"
group = "entity"
source = "paper"
of.gran-hete = [0.85, 0.80, 0.93]
of.gran-homo = [0.84]
of.getd = [0.81, nan, 0.91]
remark.getd = "an estimate"
"""


def record(folder: Path, stem: str, mrr: float, *, dataset: str = "jf17k-4", **changed: Any) -> None:
    """Write a record whose file is called ``stem``, up to the seed."""
    recipes = {(one.dataset, one.stem): one.recipe.as_tables() for one in all_experiments().values()}
    model, _, variant = stem.partition("-")
    figures = {"mrr": mrr, "hits@1": mrr - 0.05, "hits@10": mrr + 0.05}
    content = {
        "model": model,
        "variant": variant.partition("-")[0] or None,
        "dataset": dataset,
        "split": "test",
        "trained_on": ["train"],
        "seed": 0,
        "recipe": recipes.get((dataset, stem), {"data": {"name": dataset}}),
        "protocol": {"filter": "slots", "filter_splits": ["train", "test"], "positions": []},
        "metrics": {"entity": figures, "value": figures},
        "seconds": 60.0,
        "hardware": "a machine",
        **changed,
    }
    path = folder / dataset / f"{stem}-seed{content['seed']}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(orjson.dumps(content))
