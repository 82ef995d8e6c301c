"""How well the errors that are planted in a generated company-like graph are found, beside counting pairs.

    python benchmarks/planted.py [--edges 11000] [--errors 0.01] [--folds 20] [--seed 0] [--json]

Precision at the number of errors, and the area under the ROC curve. The baseline calls a fact suspicious if its
entities rarely occur together in other facts. Not every error can be found: a tenth of what people buy, of where they
live and of who is supplied follows no rule, and is no error.
"""

import argparse
import json
import time
from collections import Counter
from itertools import combinations

import numpy as np
import numpy.typing as npt

from nary.data.company import EDGES, generate_property_graph
from nary.data.dataset import Dataset
from nary.facts import Fact
from nary.runs.suspects import FOLDS, score_facts

Numbers = npt.NDArray[np.float64]


def area(scores: Numbers, wrong: npt.NDArray[np.bool_]) -> float:
    """The probability that a wrong fact has a lower score than a right one; ties count half."""
    right = np.sort(scores[~wrong])
    places = [np.searchsorted(right, scores[wrong], side) for side in ("left", "right")]
    return float(1 - np.mean(places) / len(right))


def precision(scores: Numbers, wrong: npt.NDArray[np.bool_]) -> float:
    """The share of errors among the lowest scores, as many as there are errors; ties in random order."""
    order = np.lexsort((np.random.default_rng(0).random(len(scores)), scores))
    return float(wrong[order[: wrong.sum()]].mean())


def pair_scores(facts: list[Fact]) -> Numbers:
    """The mean of the logarithms of how often two entities of each fact occur together in others."""
    entities = [{fact.subject, fact.object, *(value for _, value in fact.qualifiers)} for fact in facts]
    pairs = [list(combinations(sorted(of_fact), 2)) for of_fact in entities]
    counts = Counter(pair for of_fact in pairs for pair in of_fact)
    return np.array([np.mean([np.log(counts[pair]) for pair in of_fact] or [0.0]) for of_fact in pairs])


def main() -> None:
    """Generate, score and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=EDGES)
    parser.add_argument("--errors", type=float, default=0.01)
    parser.add_argument("--folds", type=int, default=FOLDS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    graph = generate_property_graph(given.edges, given.errors, seed=given.seed)
    dataset = Dataset.from_dataframe(graph.edges, nodes=graph.nodes)
    wrong = np.isin(graph.edges["id"].to_numpy(), graph.errors["id"].to_numpy())
    start = time.process_time()
    scores, _ = score_facts(dataset, given.folds)
    seconds = time.process_time() - start
    baseline = pair_scores(list(dataset.facts.facts(dataset.vocabulary)))
    figures = {
        name: {"precision": precision(values, wrong), "auc": area(values, wrong)}
        for name, values in (("pair counts", baseline), ("suspects", scores))
    }
    if given.json:
        print(json.dumps({"edges": given.edges, "errors": int(wrong.sum()), "seconds": seconds, **figures}))
        return
    print(f"{wrong.sum():,} errors in {len(wrong):,} edges; {seconds:.0f} seconds of the processor")
    for name, of_system in figures.items():
        print(f"{name:12} precision {of_system['precision']:.3f}  AUC {of_system['auc']:.3f}")


if __name__ == "__main__":
    main()
