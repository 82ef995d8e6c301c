"""Link prediction by counting: objects that go together with what is given, and with the other facts of the subject.

What a model that learns must beat: every answer is scored by how often, in train, it goes with each given element and
with each neighbor of the subject. The counts of independent hints are combined as a noisy or.
"""

from collections import Counter, defaultdict

import numpy as np

from nary.data.dataset import Dataset
from nary.facts import Fact
from nary.facts.layout import OBJECT
from nary.runs import TrainedModel

PRIOR = 5
"""So many cases in which a hint was wrong are added to those counted: a hint seen once says little."""
Hint = tuple[str, str, str]
"""Where an entity stands (at the other end of an edge of the subject, or in the question), a relation or attribute, and
the entity."""


class Counting:
    """Counts of a list of facts."""

    def __init__(self, facts: list[Fact]) -> None:
        self.neighbors: dict[str, set[Hint]] = defaultdict(set)
        self.objects: dict[str, Counter[str]] = defaultdict(Counter)
        for fact in facts:
            self.neighbors[fact.subject].add(("to", fact.relation, fact.object))
            self.neighbors[fact.object].add(("from", fact.relation, fact.subject))
            self.objects[fact.relation][fact.object] += 1
        self.together: dict[tuple[str, Hint], Counter[str]] = defaultdict(Counter)
        for fact in facts:
            for hint in self._hints(fact) - {("to", fact.relation, fact.object)}:
                self.together[fact.relation, hint][fact.object] += 1

    def _hints(self, fact: Fact) -> set[Hint]:
        given = {("given", attribute, value) for attribute, value in fact.qualifiers}
        return {*self.neighbors.get(fact.subject, ()), ("given", "subject", fact.subject), *given}

    def scores(self, fact: Fact) -> dict[str, float]:
        """The probability of each object that anything speaks for; the object of ``fact`` is not looked at."""
        counts = [self.objects[fact.relation]]
        counts += [self.together.get((fact.relation, hint), Counter()) for hint in self._hints(fact)]
        wrong: dict[str, float] = defaultdict(lambda: 1.0)
        for objects in counts:
            for name, count in objects.items():
                wrong[name] *= 1 - count / (objects.total() + PRIOR)
        return {name: 1 - probability for name, probability in wrong.items()}


def counted_mrr(dataset: Dataset) -> dict[str, float]:
    """The filtered MRR of counting for the object of the test facts, by relation; ties are at their mean."""
    splits = {split: list(table.facts(dataset.vocabulary)) for split, table in dataset.splits.items()}
    counting, answers = Counting(splits["train"]), defaultdict(set)
    for fact in (fact for facts in splits.values() for fact in facts):
        answers[fact.subject, fact.relation, fact.qualifiers].add(fact.object)
    reciprocal = defaultdict(list)
    for fact in splits["test"]:
        scores = counting.scores(fact)
        right = scores.get(fact.object, 0.0)
        known = answers[fact.subject, fact.relation, fact.qualifiers]
        others = [scores.get(name, 0.0) for name in dataset.vocabulary.entities if name not in known]
        higher, ties = sum(score > right for score in others), sum(score == right for score in others)
        reciprocal[fact.relation].append(1 / (1 + higher + ties / 2))
    return {relation: float(np.mean(ranks)) for relation, ranks in reciprocal.items()}


def object_mrr(model: TrainedModel) -> dict[str, float]:
    """That of a trained model."""
    ranks = model.rank("test")[1]
    is_object, reciprocal = ranks.column == OBJECT, 1 / ranks.rank()
    return {
        name: float(reciprocal[is_object & (ranks.relation == relation)].mean())
        for relation, name in enumerate(model.vocabulary.relations)
        if (ranks.relation == relation).any()
    }
