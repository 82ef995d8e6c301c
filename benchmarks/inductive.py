"""Entities that arrive after training: an update of the model against training it anew.

    python benchmarks/inductive.py [--data fb-auto] [--recipe gran/fb-auto-partial] [--epochs N] [--width N]
                                   [--share 0.05] [--most N] [--ask valid] [--json]

A share of the entities is held out with all their facts, and the model is trained on the rest. Then half of their
facts are given, and the entities of the other half are ranked: by the model as updated with the given facts, and by one
that was trained on all facts from the start, by the same recipe. Known facts of both halves are filtered. The seconds
are those of the processor. Valid facts, which have no held-out entities, tell what an update costs elsewhere.

A dataset with a context split gives its facts instead, and asks for those of test, or of valid, to choose settings by.
As all of these have new entities, a share of the training facts is held out for what an update costs elsewhere. New are
the entities that no training fact has; the model knows those of valid by name.
"""

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

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


def relations(fact: Fact) -> set[str]:
    """The relation of a fact and its attributes."""
    return {fact.relation, *(attribute for attribute, _ in fact.qualifiers)}


def names_of(fact: Fact) -> set[tuple[str, str]]:
    """All names of a fact, each with what it names."""
    return {("entity", name) for name in entities(fact)} | {("relation", name) for name in relations(fact)}


class Parts(NamedTuple):
    """Facts to train on before the update, to give to it, and to ask for afterwards."""

    train: list[Fact]
    valid: list[Fact]
    """Facts that are not trained on, but known when answers are filtered."""
    given: list[Fact]
    asked: list[Fact]
    old: list[Fact]
    """Those of the valid facts that have no new entities."""


def split(dataset: Dataset, share: float, seed: int, ask: str) -> Parts:
    """Split off a share of the entities with their facts, of which half are given; or a share of the training facts.

    A fact is given if it is the first one of an entity: nobody could say anything about that entity otherwise.
    """
    names, generator = dataset.vocabulary.entities, np.random.default_rng(seed)
    facts = {one: list(table.facts(dataset.vocabulary)) for one, table in dataset.splits.items()}
    if "context" in facts:
        train, old = hold_out(facts["train"], share, generator)
        return Parts(train, facts["valid"] + old, facts["context"], facts[ask], old)
    held_out = {names[i] for i in generator.choice(len(names), round(share * len(names)), replace=False)}
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
    return Parts(**remaining, given=given, asked=asked, old=remaining["valid"])


def hold_out(facts: list[Fact], share: float, generator: np.random.Generator) -> tuple[list[Fact], list[Fact]]:
    """Two parts of ``facts``, the second a share of them; every name of it is in the first one, too."""
    counts = Counter(name for fact in facts for name in names_of(fact))
    kept, held_out, most = [], [], round(share * len(facts))
    for i in generator.permutation(len(facts)).tolist():
        if len(held_out) < most and all(counts[name] > 1 for name in names_of(facts[i])):
            counts.subtract(names_of(facts[i]))
            held_out.append(facts[i])
        else:
            kept.append(facts[i])
    return kept, held_out


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
    parser.add_argument("--ask", choices=["valid", "test"], default="test", help="for data with a context split")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    parts = split(nary.load(options.data), options.share, options.seed, options.ask)
    chosen = {"model": options.model} if options.model else {"recipe": options.recipe}
    chosen |= {"train_on": ["train"]} | ({"epochs": options.epochs} if options.epochs else {})
    chosen |= {"hidden_dim": options.width, "ffn_dim": 2 * options.width} if options.width else {}

    def train(facts: list[Fact], **recipe: Any) -> TrainedModel:
        dataset = Dataset.from_facts(options.data, {"train": facts, "valid": parts.valid})
        return nary.train(dataset, **recipe).model

    before, seconds_before = timed(lambda: train(parts.train, **chosen))
    known = set().union(*map(entities, parts.train))
    new = set().union(*map(entities, parts.given)) - known
    known_relations = set().union(*map(relations, parts.train))
    asked = [fact for fact in parts.asked if entities(fact) <= known | new and relations(fact) <= known_relations]
    updated, seconds = timed(lambda: update(before, Dataset.from_facts("given", {"train": parts.given})).model)
    anew, seconds_anew = timed(lambda: train([*parts.train, *parts.given], recipe=before.recipe))
    asked, old = (sample(facts, options.most) for facts in (asked, parts.old))
    figures = {
        "facts": {"train": len(parts.train), "given": len(parts.given), "asked": len(asked)},
        "entities": {"known": len(known), "new": len(new)},
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
            pairs = value.items() if isinstance(value, dict) else [("", value)]
            shown = ", ".join(
                f"{part} {one:,.3f}" if isinstance(one, float) else f"{part} {one:,}" for part, one in pairs
            )
            print(f"  {key:14} {shown.strip()}")
    print(hardware())


if __name__ == "__main__":
    main()
