"""Metrics: groups are conditions on queries, measures are functions of ranks, and the metrics are their product."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from nary.evaluation.ranks import ROLES, Ranks
from nary.facts import Role

Metrics = Mapping[str, Mapping[str, float]]
"""Group -> measure -> figure."""

_Chosen = npt.NDArray[np.bool_]
_Values = npt.NDArray[np.float64]

GROUPS: dict[str, tuple[Role, ...]] = {
    "entity": (Role.SUBJECT, Role.OBJECT, Role.VALUE),
    "subject/object": (Role.SUBJECT, Role.OBJECT),
    "value": (Role.VALUE,),
    "relation": (Role.RELATION, Role.ATTRIBUTE),
    "primary": (Role.RELATION,),
    "attribute": (Role.ATTRIBUTE,),
}
"""Queries by the role they ask for; ``primary`` is the relation of the triple, ``relation`` attributes too."""


def _hits(k: int) -> Callable[[_Values], float]:
    return lambda ranks: float((ranks <= k).mean())


MEASURES: dict[str, Callable[[_Values], float]] = {
    "mrr": lambda ranks: float((1 / ranks).mean()),
    **{f"hits@{k}": _hits(k) for k in (1, 3, 5, 10)},
    "mr": lambda ranks: float(ranks.mean()),
    "count": len,
}
"""Every query weighs the same."""

_LARGEST_GAP = 0.01


def measure(ranks: Ranks, *, by_arity: bool = False, relations: Sequence[str] | None = None) -> Metrics:
    """All measures for all groups that have queries.

    ``by_arity`` adds a group for each arity; ``relations``, the names of all relations, one for each relation. With the
    measures come the MRRs for the best and for the worst order of candidates with the same score.
    """
    scales = {"mrr": ranks.rank(), "optimistic": ranks.rank("optimistic"), "pessimistic": ranks.rank("pessimistic")}
    found = {}
    parts = list(_parts(ranks, by_arity, relations))
    for group, roles in GROUPS.items():
        asked = np.isin(ranks.role, [ROLES.index(role) for role in roles])
        for part, chosen in parts:
            own = asked & chosen
            if own.any():
                figures = {name: measured(scales["mrr"][own]) for name, measured in MEASURES.items()}
                for name in ("optimistic", "pessimistic"):
                    figures[name] = MEASURES["mrr"](scales[name][own])
                found[group + part] = figures
    return found


def _parts(ranks: Ranks, by_arity: bool, relations: Sequence[str] | None) -> Iterator[tuple[str, _Chosen]]:
    """The parts that each group is divided into, by what is added to its name."""
    yield "", np.ones(len(ranks), bool)
    yield "[arity=2]", ranks.arity == 2
    yield "[arity>2]", ranks.arity > 2
    if by_arity:
        for arity in np.unique(ranks.arity[ranks.arity > 2]).tolist():
            yield f"[arity={arity}]", ranks.arity == arity
    if relations is not None:
        for relation in np.unique(ranks.relation).tolist():
            yield f"[relation={relations[relation]}]", ranks.relation == relation


def warnings(metrics: Metrics) -> list[str]:
    """What the metrics themselves say against being trusted."""
    gaps = {group: figures["optimistic"] - figures["pessimistic"] for group, figures in metrics.items()}
    group = max(gaps, key=lambda group: gaps[group], default="")
    if not gaps or gaps[group] <= _LARGEST_GAP:
        return []
    best, worst = metrics[group]["optimistic"], metrics[group]["pessimistic"]
    return [
        f"Many candidates have the same score: the MRR of {group} is {worst:.3f} if ties go against the answer and "
        f"{best:.3f} if they go for it. A collapsed model?"
    ]
