"""The approximate index of entities against scoring all of them: time of a query, and recall.

    python benchmarks/entity_index.py [--json] [--run RUN | --entities 1000000 --width 128] [--queries 100]

With ``--run``, queries are those of the test facts of a trained model; otherwise vectors and queries are random, which
is the hardest case: nothing is near. Recall is the share of the ten best entities, or of the best one, that the index
gives. Times are those of the processor, after the query is encoded.
"""

import argparse
import itertools
from pathlib import Path

import numpy as np
import torch
from common import cpu_seconds, show
from growth import RELATIONS, random_facts

from nary.evaluation.queries import encode_query
from nary.evaluation.scorer import SLICE, QueryScorer
from nary.inference.best import Best, BestCandidates, Wanted
from nary.inference.entity_index import EntityIndex
from nary.models.base import DatasetInfo, Model
from nary.models.gran import Gran, GranSettings
from nary.models.products import score_candidates
from nary.runs import load_model

WANTED = Wanted(10)


def trained(run: Path, count: int) -> tuple[Model, torch.Tensor]:
    """A trained model, and query vectors for the entities of its test facts."""
    model = load_model(run, "cpu")
    facts = model.dataset.test.facts(model.vocabulary)
    queries = (encode_query(f, at, model.vocabulary) for f in facts for at in f.elements() if at.role.is_entity)
    return model.module, QueryScorer(model.module).encode(list(itertools.islice(queries, 0, 7 * count, 7)))


def random(entities: int, width: int, count: int) -> tuple[Model, torch.Tensor]:
    """A model with random vectors, and random queries."""
    info = DatasetInfo(entities, RELATIONS, 3, random_facts(entities, 3, 100))
    model = Gran(GranSettings(num_layers=1, hidden_dim=width, ffn_dim=width), info)
    return model, torch.randn(count, width)


@torch.inference_mode()
def exact_best(model: Model, query: torch.Tensor) -> Best:
    """The best of all entities, a slice at a time."""
    vectors, bias = model.candidates("entity")
    best = BestCandidates([WANTED], [0], 1.0)
    for part, part_bias in zip(vectors.split(SLICE), bias.split(SLICE), strict=True):
        best.add(score_candidates(query[None], part, part_bias))
    return best.results()[0]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--run", type=Path)
    parser.add_argument("--entities", type=int, default=1_000_000)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--queries", type=int, default=100)
    options = parser.parse_args()
    torch.manual_seed(0)
    count = options.queries
    model, queries = trained(options.run, count) if options.run else random(options.entities, options.width, count)
    indexes: list[EntityIndex] = []
    making = cpu_seconds(lambda: indexes.append(EntityIndex(model.eval())))
    exact, near = [], []
    exact_seconds = [cpu_seconds(lambda query=query: exact.append(exact_best(model, query))) for query in queries]
    index_seconds = [
        cpu_seconds(lambda query=query: near.extend(indexes[0].best(query[None], [WANTED], 1.0))) for query in queries
    ]
    pairs = [(one.ids.tolist(), other.ids.tolist()) for one, other in zip(exact, near, strict=True)]
    errors = [abs(one.log_total - other.log_total) for one, other in zip(exact, near, strict=True)]
    figures = {
        "entities": len(model.candidates("entity")[0]),
        "width": queries.shape[1],
        "queries": len(queries),
        "making_seconds": making,
        "exact_milliseconds": 1000 * float(np.median(exact_seconds)),
        "index_milliseconds": 1000 * float(np.median(index_seconds)),
        "recall_at_10": float(np.mean([len({*one} & {*other}) / len(one) for one, other in pairs])),
        "recall_at_1": float(np.mean([one[0] == other[0] for one, other in pairs])),
        "log_total_error": float(np.median(errors)),
    }
    show(figures, options.json)


if __name__ == "__main__":
    main()
