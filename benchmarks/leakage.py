"""MRR apart for test facts whose primary triple stands in train, with other qualifiers, and for the others.

    python benchmarks/leakage.py RUN... [--json]

On jf17k that is 45% of the test facts, a known leak: a model that only looks triples up answers them. For a blend, each
of its parts is ranked too.
"""

import argparse
import json
from dataclasses import replace

import numpy as np
import numpy.typing as npt

import nary
from nary.evaluation.ranks import ROLES
from nary.facts import FactTable
from nary.facts.layout import OBJECT
from nary.models.blend.model import Blend
from nary.runs import TrainedModel


def primaries(table: FactTable) -> npt.NDArray[np.int64]:
    """Relation, subject and object of each fact [n, 3]."""
    rows = np.empty((len(table), 3), np.int64)
    for block in table.blocks:
        rows[block.rows] = block.ids[:, : OBJECT + 1]
    return rows


def leaked(model: TrainedModel) -> npt.NDArray[np.bool_]:
    """Which test facts have their primary triple in train."""
    known = set(map(tuple, primaries(model.dataset.train).tolist()))
    return np.array([tuple(row) in known for row in primaries(model.dataset.test).tolist()])


def figures(model: TrainedModel) -> dict[str, float]:
    """Entity MRR of all test facts, of the leaked ones and of the others."""
    ranks = model.rank("test")[1]
    is_entity = np.array([role.is_entity for role in ROLES])[ranks.role]
    reciprocal, is_leaked = 1 / ranks.rank()[is_entity], leaked(model)[ranks.row[is_entity]]
    parts = {"all": reciprocal, "leaked": reciprocal[is_leaked], "others": reciprocal[~is_leaked]}
    return {name: float(part.mean()) for name, part in parts.items() if len(part)}


def main() -> None:
    """Rank and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    for run in given.runs:
        model = nary.load_model(run)
        modules = [*model.module.models, model.module] if isinstance(model.module, Blend) else [model.module]
        for module in modules:
            described = {"dataset": model.dataset.name, "model": module.name, **figures(replace(model, module=module))}
            print(json.dumps(described) if given.json else described, flush=True)


if __name__ == "__main__":
    main()
