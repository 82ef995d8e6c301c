"""Metrics: functions of ranks, computed for groups of queries."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from nary.evaluation.protocol import Ties
from nary.evaluation.ranks import ALL_GIVEN, ROLES, Ranks
from nary.facts import Role
from nary.registry import Registry

Metrics = Mapping[str, Mapping[str, float]]
"""Group -> metric -> value."""
RankArray = npt.NDArray[np.float64]
_Mask = npt.NDArray[np.bool_]

GROUPS: dict[str, tuple[Role, ...]] = {
    "entity": (Role.SUBJECT, Role.OBJECT, Role.VALUE),
    "subject/object": (Role.SUBJECT, Role.OBJECT),
    "value": (Role.VALUE,),
    "relation": (Role.RELATION, Role.ATTRIBUTE),
    "primary": (Role.RELATION,),
    "attribute": (Role.ATTRIBUTE,),
}
"""Queries by masked role; ``primary`` is the relation of the primary triple, ``relation`` includes attributes."""
_CURVE_GROUPS = {"subject": (Role.SUBJECT,), "object": (Role.OBJECT,), **GROUPS}

Metric = Callable[[RankArray], float]
"""A metric: a function of the ranks [q] of some queries."""

METRICS: Registry[Metric] = Registry(
    "metric",
    {
        "mrr": "nary.evaluation.metrics:mean_reciprocal_rank",
        **{f"hits@{k}": f"nary.evaluation.metrics:hits_at_{k}" for k in (1, 3, 5, 10)},
        "mr": "nary.evaluation.metrics:mean_rank",
        "count": "nary.evaluation.metrics:num_queries",
    },
)
"""Every metric by name. Each query has the same weight."""

register_metric = METRICS.register
"""A decorator: ``@register_metric("median")`` adds a function of ranks to every report."""

TIE_BOUNDS: tuple[Ties, ...] = ("optimistic", "pessimistic")
"""Reported with the metrics: the MRR if every tie goes for the answer, and if every tie goes against it."""


def mean_reciprocal_rank(ranks: RankArray) -> float:
    """The mean of 1 / rank."""
    return float((1 / ranks).mean())


def mean_rank(ranks: RankArray) -> float:
    """The mean of the ranks."""
    return float(ranks.mean())


def num_queries(ranks: RankArray) -> int:
    """The number of queries."""
    return len(ranks)


def _hits_at(k: int) -> Metric:
    """The share of ranks up to ``k``."""
    return lambda ranks: float((ranks <= k).mean())


hits_at_1, hits_at_3, hits_at_5, hits_at_10 = map(_hits_at, (1, 3, 5, 10))

_LARGEST_GAP = 0.01


def measure(ranks: Ranks, *, by_arity: bool = False, relations: Sequence[str] | None = None) -> Metrics:
    """All metrics for all groups that have queries.

    ``by_arity`` adds a group for each arity; ``relations``, the names of all relations, a group for each relation. The
    points of a curve are groups too: ``object[given=0]``.
    """
    metrics: dict[str, Metric] = {name: METRICS.get(name) for name in METRICS}
    values, bounds = ranks.rank(), {ties: ranks.rank(ties) for ties in TIE_BOUNDS}
    results = {}
    parts, points = list(_parts(ranks, by_arity, relations)), list(_points(ranks))
    for group, roles, part, in_part in [
        *((group, roles, *part) for group, roles in GROUPS.items() for part in parts),
        *((group, roles, *point) for group, roles in _CURVE_GROUPS.items() for point in points),
    ]:
        chosen = in_part & np.isin(ranks.role, [ROLES.index(role) for role in roles])
        if chosen.any():
            figures = {name: metric(values[chosen]) for name, metric in metrics.items()}
            figures |= {ties: mean_reciprocal_rank(bound[chosen]) for ties, bound in bounds.items()}
            results[group + part] = figures
    return results


def _parts(ranks: Ranks, by_arity: bool, relations: Sequence[str] | None) -> Iterator[tuple[str, _Mask]]:
    """The parts of each group: the suffix of its name and which queries belong to it [q]."""
    whole = ranks.given == (ALL_GIVEN if ranks.is_curve else ranks.given)
    yield "", whole
    yield "[arity=2]", whole & (ranks.arity == 2)
    yield "[arity>2]", whole & (ranks.arity > 2)
    if by_arity:
        for arity in np.unique(ranks.arity[ranks.arity > 2]).tolist():
            yield f"[arity={arity}]", whole & (ranks.arity == arity)
    if relations is not None:
        for relation in np.unique(ranks.relation).tolist():
            yield f"[relation={relations[relation]}]", whole & (ranks.relation == relation)


def _points(ranks: Ranks) -> Iterator[tuple[str, _Mask]]:
    """The points of a curve, like :func:`_parts`: queries with qualifiers to leave out, the same at each point."""
    if ranks.is_curve:
        levels = np.unique(ranks.given).tolist()
        for level in sorted(levels, key=lambda level: (level == ALL_GIVEN, level)):
            name = "all" if level == ALL_GIVEN else level
            yield f"[given={name}]", (ranks.given == level) & (ranks.num_others > 0)


def warnings(metrics: Metrics) -> list[str]:
    """Reasons in the metrics themselves not to trust them."""
    gaps = {group: figures["optimistic"] - figures["pessimistic"] for group, figures in metrics.items()}
    group = max(gaps, key=lambda group: gaps[group], default="")
    if not gaps or gaps[group] <= _LARGEST_GAP:
        return []
    best, worst = metrics[group]["optimistic"], metrics[group]["pessimistic"]
    return [
        f"Many candidates have the same score: the MRR of {group} is {worst:.3f} if the answer loses all ties and "
        f"{best:.3f} if it wins them. Has the model collapsed?"
    ]
