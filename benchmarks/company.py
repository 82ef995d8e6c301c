"""``auto`` on a generated company-like graph, beside each of its parts, frequency, and plain counting.

    python benchmarks/company.py [--edges 11000] [--minutes 10] [--seed 0] [--out RUN] [--json]

The question is the object of each edge, with all its properties given, dates and amounts included, on test facts: where
does someone live, where do they work, to whom do they report. The counting baseline answers with what goes together
with each given element, and with the other facts of the subject, in train. Figures are MRR by relation, filtered, ties
at their mean.
"""

import argparse
import json
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

import nary
from nary.auto import MINUTES
from nary.data.company import EDGES, generate_property_graph
from nary.data.dataset import Dataset
from nary.data.transforms.splits import split_dataset
from nary.evaluation.ranks import Ranks
from nary.facts import Fact
from nary.facts.layout import OBJECT
from nary.runs import BlendResult, TrainedModel

PRIOR = 5


def company(edges: int, seed: int) -> Dataset:
    """The edges as facts, as ``nary import edges.csv --nodes nodes.csv`` makes them, and split."""
    graph = generate_property_graph(edges, seed=seed)
    dates = graph.edges.with_columns(pl.col("date").str.to_date())
    return split_dataset(Dataset.from_dataframe(dates, nodes=graph.nodes, name="company"))


Feature = tuple[str, str, str]
"""Where an entity stands (at the other end of an edge of the subject, or in the question), an edge type or attribute,
and the entity."""


class Counting:
    """Answers with objects that go together with what is given, and with the other facts of the subject."""

    def __init__(self, facts: list[Fact]) -> None:
        self.features: dict[str, set[Feature]] = defaultdict(set)
        self.overall: dict[str, Counter[str]] = defaultdict(Counter)
        for fact in facts:
            self.features[fact.subject].add(("to", fact.relation, fact.object))
            self.features[fact.object].add(("from", fact.relation, fact.subject))
            self.overall[fact.relation][fact.object] += 1
        self.together: dict[tuple[str, Feature], Counter[str]] = defaultdict(Counter)
        self.cases: Counter[tuple[str, Feature]] = Counter()
        for fact in facts:
            for feature in self._features_of(fact) - {("to", fact.relation, fact.object)}:
                self.together[fact.relation, feature][fact.object] += 1
                self.cases[fact.relation, feature] += 1

    def _features_of(self, fact: Fact) -> set[Feature]:
        given = {("given", attribute, value) for attribute, value in fact.qualifiers}
        return {*self.features[fact.subject], ("given", "subject", fact.subject), *given}

    def scores(self, fact: Fact) -> dict[str, float]:
        """The probability of each object that anything speaks for."""
        total = sum(self.overall[fact.relation].values())
        wrong = {object_: 1 - n / (total + PRIOR) for object_, n in self.overall[fact.relation].items()}
        for feature in self._features_of(fact):
            key = fact.relation, feature
            for object_, n in self.together[key].items():
                wrong[object_] = wrong.get(object_, 1.0) * (1 - n / (self.cases[key] + PRIOR))
        return {object_: 1 - one for object_, one in wrong.items()}


def counted_mrr(dataset: Dataset) -> dict[str, float]:
    """The MRR of counting for the object of the test facts, by relation."""
    splits = {split: list(table.facts(dataset.vocabulary)) for split, table in dataset.splits.items()}
    counting, answers = Counting(splits["train"]), defaultdict(set)
    for fact in (fact for facts in splits.values() for fact in facts):
        answers[fact.subject, fact.relation, fact.qualifiers].add(fact.object)
    reciprocal = defaultdict(list)
    for fact in splits["test"]:
        scores = counting.scores(fact)
        others = answers[fact.subject, fact.relation, fact.qualifiers] - {fact.object}
        left = [score for object_, score in scores.items() if object_ not in others and object_ != fact.object]
        right = scores.get(fact.object, 0.0)
        silent = len(dataset.vocabulary.entities) - len(scores) - 1 if right == 0 else 0
        higher, ties = sum(score > right for score in left), sum(score == right for score in left) + silent
        reciprocal[fact.relation].append(1 / (1 + higher + ties / 2))
    return {relation: float(np.mean(ranks)) for relation, ranks in reciprocal.items()}


def mrr_by_relation(model: TrainedModel) -> dict[str, float]:
    """The MRR for the object of the test facts, by relation."""
    ranks: Ranks = model.rank("test")[1]
    names = model.vocabulary.relations
    is_object = ranks.column == OBJECT
    by_relation = {}
    for relation in np.unique(ranks.relation).tolist():
        chosen = is_object & (ranks.relation == relation)
        by_relation[names[relation]] = float((1 / ranks.rank()[chosen]).mean())
    return by_relation


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
    systems = {"frequency": mrr_by_relation(frequency), "counting": counted_mrr(dataset)}
    for part, module in zip(result.parts, [*result.model.module.models, result.model.module], strict=True):
        systems[part.name] = mrr_by_relation(replace(result.model, module=module))
    seconds = {part.name: part.seconds for part in result.parts}
    relations = sorted(systems["counting"])
    if given.json:
        print(json.dumps({"edges": given.edges, "seed": given.seed, "seconds": seconds, "mrr": systems}, indent=2))
        return
    print("| object of | " + " | ".join(systems) + " |\n|---|" + "--:|" * len(systems))
    for relation in relations:
        print(f"| {relation} | " + " | ".join(f"{mrr[relation]:.3f}" for mrr in systems.values()) + " |")
    print("\nseconds:", ", ".join(f"{name} {cost:.0f}" for name, cost in seconds.items() if cost is not None))


if __name__ == "__main__":
    main()
