"""A trained model in use, measured on facts it has not learned from.

    python benchmarks/use.py RUN [--data nobel] [--sample 400] [--seed 0] [--json]

- calibration: how far the probability of the best answer is from how often it is right, on average over ten groups of
  test questions of like probability; as the model's scores give it, and after calibration.
- complete: two elements of a test fact are hidden; how often both are right in the first completions, against the most
  probable pairs when each element is predicted without looking at the other.

Other known facts among the completions are passed over, as in a ranking.
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from nary import load, load_model
from nary.data.transforms.reindex import reindex
from nary.facts import GAP, Fact, Position, Query
from nary.runs import TrainedModel

KS = (1, 5, 10)


def calibration(model: TrainedModel, test: Sequence[Fact]) -> dict[str, float]:
    """How sure the best answers are in relation to how often they are the element of the fact."""
    context = model.predictor.context
    queries = [context.encode(fact, position) for fact in test for position in fact.elements()]
    sure: dict[str, list[float]] = {"plain": [], "calibrated": []}
    right = []
    for scored in context.score(queries):
        for kind, logs in (("plain", scored.scores.log_softmax(-1)), ("calibrated", scored.log_probabilities)):
            sure[kind] += logs.max(-1).values.exp()[scored.rows].tolist()
        best = scored.scores.argmax(-1)[scored.rows].tolist()
        right += [queries[place].answer == one for place, one in zip(scored.places, best, strict=True)]
    distances = {kind: _distance(np.array(values), np.array(right)) for kind, values in sure.items()}
    return {"queries": len(right), **distances}


def _distance(sure: np.ndarray, right: np.ndarray) -> float:
    groups = np.minimum((10 * sure).astype(int), 9)
    members = [groups == group for group in range(10) if (groups == group).any()]
    return float(sum(abs(sure[one].mean() - right[one].mean()) * one.mean() for one in members))


def complete(model: TrainedModel, test: Sequence[Fact], random: np.random.Generator) -> dict[str, dict[str, float]]:
    """How often two hidden elements are both found: together, and each for itself."""
    known = {str(fact) for fact in model.dataset.facts.facts(model.dataset.vocabulary)}
    splits = {name: table for name, table in model.dataset.splits.items() if name != "test"}
    model = replace(model, dataset=replace(model.dataset, splits=splits))  # stored facts are always among completions
    together, apart = [], []
    for fact in test:
        elements = fact.elements()
        one, two = random.choice(len(elements), 2, replace=False).tolist()
        gaps = [list(elements)[one], list(elements)[two]]
        query = Query.from_elements({**elements, **dict.fromkeys(gaps, GAP)})
        new = (answer.fact for answer in model.complete(query, k=100, known="mark").answers)
        together.append(place_of(str(fact), (text for text in new if text == str(fact) or text not in known)))
        new = pairs_apart(model, query)
        apart.append(place_of(str(fact), (text for text in new if text == str(fact) or text not in known)))
    return {"together": shares("hits", together), "apart": shares("hits", apart)}


def pairs_apart(model: TrainedModel, query: Query) -> list[str]:
    """The most probable facts if the answer to one gap told nothing about the other."""
    context = model.predictor.context
    candidates: list[list[tuple[float, Position, str]]] = []
    for gap in query.gaps:
        encoded = context.encode(query, gap)
        (scored,) = context.score([encoded])
        best = scored.log_probabilities[0].topk(min(100, scored.scores.shape[1]))
        names = context.candidates(encoded.kind)
        candidates.append(
            [(v, gap, names[i]) for v, i in zip(best.values.tolist(), best.indices.tolist(), strict=True)]
        )
    pairs = sorted(product(*candidates), key=lambda pair: -sum(value for value, _, _ in pair))[:200]
    elements = query.elements()
    return [str(Fact.from_elements({**elements, **{gap: name for _, gap, name in pair}})) for pair in pairs]


def sampled(facts: Sequence[Fact], size: int, random: np.random.Generator) -> list[Fact]:
    """Some of the facts."""
    return [facts[i] for i in random.permutation(len(facts))[:size].tolist()]


def place_of(wanted: object, ranked: Iterable[object]) -> int | None:
    """The place of what is wanted, from 1, if it is there."""
    return next((place for place, one in enumerate(ranked, 1) if one == wanted), None)


def shares(what: str, places: Sequence[int | None]) -> dict[str, float]:
    """The share of places up to each k."""
    shares_at = {f"{what}@{k}": sum(place is not None and place <= k for place in places) / len(places) for k in KS}
    return {"queries": len(places), **shares_at}


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--data", help="take the test facts of this dataset instead of the run's own")
    parser.add_argument("--sample", type=int, default=400, help="facts to complete")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    model = load_model(given.run)
    table = model.dataset.test
    if given.data:
        other = load(given.data)
        table, _ = reindex(other.test, other.vocabulary, model.dataset.vocabulary)
    test = list(table.facts(model.dataset.vocabulary))
    random = np.random.default_rng(given.seed)
    parts: dict[str, object] = {"calibration": calibration(model, test)}
    if model.module.supports_multiple_masks:
        parts["complete"] = complete(model, sampled(test, given.sample, random), random)
    if given.json:
        print(json.dumps(parts))
    else:
        for part, figures in parts.items():
            print(part, figures)


if __name__ == "__main__":
    main()
