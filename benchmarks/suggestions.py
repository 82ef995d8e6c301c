"""How often a hidden qualifier is among the first suggestions.

    python benchmarks/suggestions.py RUN... [--facts 1000] [--split test] [--seed 0] [--json]

Each qualifier of a sample of facts is hidden in turn, and all qualifiers are ranked by probability, in three ways:

- suggest: as ``nary suggest`` does.
- model: the share of the attribute in facts with the same relation, times the model's probability of the value.
- counting: that share, times the share of the value among all values of the attribute.

Stored facts are not looked up, since they hold the answer: shares and ranges are those of train, weights are fitted on
valid. Other qualifiers that a stored fact has with the same primary triple are true too and are left out of the
ranking. Ties get their mean rank. Besides recall at 1, 5 and 10:

- confidence: the mean probability of the first suggestion. It is right as often if probabilities are calibrated;
  ``calibration error`` is the mean difference over ten bins. Nothing is left out for these two.
- outside: the share of the first ten suggestions whose value never stands with its attribute in train.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from nary import load_model
from nary.facts import Fact, FactTable
from nary.facts.layout import RELATION
from nary.inference.context import Context
from nary.inference.suggestions import Suggester, top_attributes
from nary.runs import TrainedModel

KS = (1, 5, 10)
BINS = 10
WAYS = ("suggest", "model", "counting")
Floats = npt.NDArray[np.float64]
Joint = dict[int, Floats]
"""The probability of each value [E] with each attribute."""
Pair = tuple[int, int]


def plain_shares(context: Context, fact: Fact) -> Floats:
    """The share of each attribute among what facts with the same relation have more often than ``fact`` [R]."""
    ids, size = context.vocabulary.relation_ids, len(context.vocabulary.relations)
    present = np.zeros(size, np.int64)
    for name, number in Counter(attribute for attribute, _ in fact.qualifiers).items():
        present[ids[name]] = number
    counts, overall = np.zeros(size), np.zeros(size)
    for block in context.dataset.train.blocks:
        overall += np.bincount(block.attributes.ravel(), minlength=size)
        attributes = block.attributes[block.ids[:, RELATION] == ids[fact.relation]].astype(np.int64)
        pairs, times = np.unique(np.arange(len(attributes))[:, None] * size + attributes, return_counts=True)
        counts += np.bincount(pairs[times > present[pairs % size]] % size, minlength=size)
    counts += overall / max(1.0, overall.sum())
    return counts / max(1.0, counts.sum())


def without(values: Floats, present: list[int]) -> Floats:
    """The same distribution without what a fact already has."""
    values = values.copy()
    values[present] = 0
    return values


def joints(context: Context, suggester: Suggester, fact: Fact) -> dict[str, Joint]:
    """The probability of every further qualifier, in the three ways."""
    shares, plain = suggester.attribute_shares(fact)[0], plain_shares(context, fact)
    ways: dict[str, Joint] = {way: {} for way in WAYS}
    attributes = sorted({*top_attributes(shares), *top_attributes(plain)})
    for attribute, model, present in suggester.model_values(fact, attributes):
        ids, counts = context.slots.members(int(context.slots.of_values(np.array(attribute))))
        range_shares = np.zeros_like(model)
        range_shares[ids] = counts / counts.sum()
        ways["suggest"][attribute] = shares[attribute] * suggester.mixture.mix(model, attribute, present)
        ways["model"][attribute] = plain[attribute] * without(model, present)
        ways["counting"][attribute] = plain[attribute] * without(range_shares, present)
    return ways


def measure(context: Context, joint: Joint, hidden: Pair, others: set[Pair]) -> tuple[float, float, bool, float]:
    """The rank of the hidden qualifier, the probability of the first, whether it is right, and the share outside."""
    attributes = np.array(list(joint))
    probabilities = np.stack(list(joint.values()))
    size = probabilities.shape[1]
    best = np.argsort(-probabilities, axis=None, kind="stable")[: max(KS)]
    top = [(int(attributes[place // size]), int(place % size)) for place in best]
    slots = context.slots.of_values(np.array([attribute for attribute, _ in top]))
    outside = float((context.slots.counts(slots, np.array([value for _, value in top])) == 0).mean())
    highest = float(probabilities.flat[best[0]])
    right = hidden[0] in joint and highest == joint[hidden[0]][hidden[1]] > 0
    if hidden[0] not in joint or joint[hidden[0]][hidden[1]] <= 0:
        return np.inf, highest, False, outside
    its = joint[hidden[0]][hidden[1]]
    for attribute, value in others:
        if attribute in joint:
            joint[attribute][value] = 0
    higher = sum(int((one > its).sum()) for one in joint.values())
    ties = sum(int((one == its).sum()) for one in joint.values()) - 1
    return 1 + higher + ties / 2, highest, right, outside


def hide(table: FactTable, model: TrainedModel, size: int, seed: int) -> Iterator[tuple[Fact, tuple[str, str]]]:
    """A sample of facts without each of their qualifiers, and this qualifier."""
    facts = [fact for fact in table.facts(model.dataset.vocabulary) if fact.qualifiers]
    chosen = np.random.default_rng(seed).permutation(len(facts))[:size]
    for fact in (facts[place] for place in np.sort(chosen).tolist()):
        for place, pair in enumerate(fact.qualifiers):
            yield Fact(*fact.primary, [*fact.qualifiers[:place], *fact.qualifiers[place + 1 :]]), pair


def figures(numbers: list[tuple[float, float, bool, float]]) -> dict[str, float]:
    """The figures of one way."""
    ranks, confidence, right, outside = np.array(numbers).T
    bins = np.minimum((BINS * confidence).astype(int), BINS - 1)
    gaps = [abs((confidence - right)[bins == i].sum()) for i in range(BINS)]
    return {
        **{f"recall@{k}": float((ranks <= k).mean()) for k in KS},
        "confidence": float(confidence.mean()),
        "calibration error": float(sum(gaps) / len(ranks)),
        "outside": float(outside.mean()),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--facts", type=int, default=1000, help="facts with qualifiers, at most")
    parser.add_argument("--split", default="test")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    for run in given.runs:
        model = load_model(run)
        context, suggester = model.predictor.context, model.predictor.suggester
        names = model.dataset.vocabulary
        numbers: dict[str, list[tuple[float, float, bool, float]]] = {way: [] for way in WAYS}
        for fact, (attribute, value) in hide(model.dataset[given.split], model, given.facts, given.seed):
            hidden = names.relation(attribute), names.entity(value)
            others = set(context.lookup.further(Fact(*fact.primary))[0]) - {hidden}
            for way, joint in joints(context, suggester, fact).items():
                numbers[way].append(measure(context, joint, hidden, others))
        result = {"run": run, "dataset": model.dataset.name, "hidden": len(numbers[WAYS[0]])}
        measured = {way: figures(numbers[way]) for way in WAYS}
        if given.json:
            print(json.dumps({**result, **measured}), flush=True)
            continue
        print(result, flush=True)
        for way, of_way in measured.items():
            print(f"  {way:9}", {name: round(figure, 3) for name, figure in of_way.items()}, flush=True)


if __name__ == "__main__":
    main()
