"""Entities that arrive after training: an update of the model against training it anew.

    python benchmarks/inductive.py [--data fb-auto] [--recipe gran/fb-auto-partial] [--epochs N] [--width N]
                                   [--share 0.05] [--most N] [--json]

A share of the entities is held out with all their facts, and the model is trained on the rest. Then half of their
facts are given, and the entities of the other half are ranked: by the model as updated with the given facts, and by one
that was trained on all facts from the start. Known facts of both halves are filtered. The seconds are those of the
processor. A dataset with a context split gives its facts instead, and asks for those of test.
"""

import argparse
import random
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import orjson

import nary
from nary.data.dataset import Dataset
from nary.evaluation.protocol import Protocol
from nary.facts import Fact, FactTable
from nary.reproduction.records import hardware
from nary.runs import TrainedModel
from nary.runs.updating import update

PROTOCOL = Protocol(positions=["subject", "object", "value"])
RESULT = TypeVar("RESULT")


def entities(fact: Fact) -> set[str]:
    """All entities of a fact."""
    return {fact.subject, fact.object, *(value for _, value in fact.qualifiers)}


def split(dataset: Dataset, share: float, seed: int) -> tuple[dict[str, list[Fact]], list[Fact], list[Fact]]:
    """The splits without a share of the entities, half of their facts, and the other half.

    A fact is given if it is the first one of an entity: nobody could say anything about that entity otherwise.
    """
    names, generator = dataset.vocabulary.entities, np.random.default_rng(seed)
    held_out = {names[i] for i in generator.choice(len(names), round(share * len(names)), replace=False)}
    facts = {one: list(table.facts(dataset.vocabulary)) for one, table in dataset.splits.items()}
    if "context" in facts:
        return {one: facts[one] for one in ("train", "valid")}, facts["context"], facts["test"]
    remaining = {one: [fact for fact in facts[one] if not entities(fact) & held_out] for one in ("train", "valid")}
    touched = list(dict.fromkeys(fact for some in facts.values() for fact in some if entities(fact) & held_out))
    known = {name for some in remaining.values() for fact in some for name in entities(fact)}
    given, asked = [], []
    for number, i in enumerate(generator.permutation(len(touched)).tolist()):
        if number % 2 == 0 or entities(touched[i]) - known:
            given.append(touched[i])
            known |= entities(touched[i])
        else:
            asked.append(touched[i])
    return remaining, given, asked


def sample(facts: list[Fact], most: int | None) -> list[Fact]:
    """So many of the facts, at random, or all of them."""
    return facts if most is None or most >= len(facts) else random.Random(0).sample(facts, most)


def timed(work: Callable[[], RESULT]) -> tuple[RESULT, float]:
    """What ``work`` returns, and its seconds of the processor."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def measure(model: TrainedModel, facts: list[Fact], new: set[str]) -> dict[str, float]:
    """The MRR of the entities of ``facts``: of all, of those that are new, and of the others."""
    table = FactTable.from_facts(facts, model.vocabulary)
    known = Dataset(model.dataset.name, model.vocabulary, {**model.dataset.splits, "test": table})
    ranks = TrainedModel(model.module, known, model.recipe).rank("test", protocol=PROTOCOL)[1]
    reciprocal = 1 / ranks.rank()
    is_new = np.isin(ranks.answer, [model.vocabulary.entity_ids[name] for name in new])
    parts = {"all": np.ones_like(is_new), "new": is_new, "others": ~is_new}
    return {name: float(reciprocal[chosen].mean()) for name, chosen in parts.items() if chosen.any()}


def main() -> None:
    """Split, train, update, train anew, rank and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="fb-auto")
    parser.add_argument("--recipe", default="gran/fb-auto-partial")
    parser.add_argument(
        "--model", default=None, help="a model by name, with its recipe for the data, instead of a recipe"
    )
    parser.add_argument("--epochs", type=int, default=None, help="instead of those of the recipe")
    parser.add_argument("--width", type=int, default=None, help="of the vectors of GRAN, instead of that of the recipe")
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=None, help="rank a sample of so many facts of each kind")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    remaining, given, asked = split(nary.load(options.data), options.share, options.seed)
    chosen = {"model": options.model} if options.model else {"recipe": options.recipe}
    chosen |= {"train_on": ["train"]} | ({"epochs": options.epochs} if options.epochs else {})
    chosen |= {"hidden_dim": options.width, "ffn_dim": 2 * options.width} if options.width else {}

    def train(facts: list[Fact]) -> TrainedModel:
        dataset = Dataset.from_facts(options.data, {"train": facts, "valid": remaining["valid"]})
        return nary.train(dataset, **chosen).model

    before, seconds_before = timed(lambda: train(remaining["train"]))
    new = {name for fact in given for name in entities(fact)} - set(before.vocabulary.entities)
    asked = [fact for fact in asked if entities(fact) <= new | set(before.vocabulary.entities)]
    asked = [
        fact for fact in asked if {fact.relation, *(a for a, _ in fact.qualifiers)} <= set(before.vocabulary.relations)
    ]
    updated, seconds = timed(lambda: update(before, Dataset.from_facts("given", {"train": given})).model)
    anew, seconds_anew = timed(lambda: train([*remaining["train"], *given]))
    asked, old = (sample(facts, options.most) for facts in (asked, remaining["valid"]))
    figures = {
        "facts": {"train": len(remaining["train"]), "given": len(given), "asked": len(asked)},
        "entities": {"known": len(before.vocabulary.entities), "new": len(new)},
        "mrr": {name: measure(model, asked, new) for name, model in (("updated", updated), ("anew", anew))},
        "valid": {
            name: measure(model, old, set())["all"]
            for name, model in (("before", before), ("updated", updated), ("anew", anew))
        },
        "seconds": {"training": seconds_before, "update": seconds, "training anew": seconds_anew},
    }
    if options.json:
        print(orjson.dumps({**figures, "hardware": hardware()}).decode())
        return
    for name, values in figures.items():
        print(name)
        for key, value in values.items():
            parts = value.items() if isinstance(value, dict) else [("", value)]
            shown = ", ".join(
                f"{part} {one:,.3f}" if isinstance(one, float) else f"{part} {one:,}" for part, one in parts
            )
            print(f"  {key:14} {shown.strip()}")
    print(hardware())


if __name__ == "__main__":
    main()
