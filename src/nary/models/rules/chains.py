"""Chains: rules whose body is two edges, "the answer is x if the anchor has a B1-edge to z and z a B2-edge to x".

A path is followed only if the number of B1-edges of the anchor times the number of B2-edges of z is at most
:data:`MAX_PATHS`, which keeps out hubs. Each head is counted on as many of its anchors, evenly spread, as give
:data:`BUDGET` paths, or fewer if all heads together would exceed :data:`TOTAL`; so the time of counting is bounded.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from nary.models.rules.arrays import Index, Ints, ranges
from nary.models.rules.edges import MANY, Edges
from nary.models.rules.heads import Instances
from nary.models.rules.mining import RuleSet, anchors_of, judged
from nary.models.rules.settings import RulesSettings

BUDGET = 50_000
"""The number of paths that each head is counted on."""
TOTAL = 20_000_000
"""The number of paths that all heads together are counted on."""
MAX_PATHS = 12
"""The largest number of paths that one anchor may have through one z."""
PER_HEAD = 40
"""The number of chains kept for each head, the most confident ones."""


class Paths(NamedTuple):
    """Paths of two edges: the place of the anchor they start from and the rows of both edges."""

    owner: Ints
    first: Ints
    second: Ints


class Walker:
    """Follows pairs of edges."""

    def __init__(self, edges: Edges) -> None:
        self.edges = edges
        self._open = np.flatnonzero(edges.degree <= MAX_PATHS)  # sorted by source and type, like all edges
        self._by_source = Index.of(edges.source[self._open])
        self._by_type = Index.of(edges.source_type)
        reached = self._by_source.find(edges.target[self._open])
        following = np.where(reached >= 0, self._by_source.counts[reached] if len(self._open) else 0, 0)
        self._sizes = np.bincount(edges.source[self._open], following, minlength=edges.num_entities)

    @property
    def num_hubs(self) -> int:
        """The number of pairs of an entity and an edge type that are never followed."""
        return int((self._by_type.counts > MAX_PATHS).sum())

    def sizes(self, anchors: Ints) -> Ints:
        """About how many paths start from each anchor."""
        return self._sizes[anchors].astype(np.int64)

    def all(self, anchors: Ints) -> Paths:
        """All paths from each of ``anchors`` that do not lead back to it."""
        rows, owner = self._by_source.rows(anchors)
        first = self._open[rows]
        rows, of = self._by_source.rows(self.edges.target[first])
        return self._checked(anchors, owner[of], first[of], self._open[rows])

    def along(self, anchors: Ints, head: Ints, steps: Index, second_types: Ints) -> tuple[Paths, Ints]:
        """The paths along chains only, and the chain of each.

        ``steps`` groups the chains by head and first edge type; ``second_types`` [n] are their second edge types.
        """
        rows, owner = self._by_source.rows(anchors)
        first = self._open[rows]
        keys = np.where(head[owner] >= 0, head[owner] * self.edges.num_types + self.edges.type[first], -1)
        chains, of = steps.rows(keys)
        owner, first = owner[of], first[of]
        rows, of = self._by_type.rows(self.edges.target[first] * self.edges.num_types + second_types[chains])
        paths = Paths(owner[of], first[of], rows)
        kept = self._kept(anchors, paths)
        return Paths(*(column[kept] for column in paths)), chains[of][kept]

    def _checked(self, anchors: Ints, *columns: Ints) -> Paths:
        paths = Paths(*columns)
        kept = self._kept(anchors, paths)
        return Paths(*(column[kept] for column in paths))

    def _kept(self, anchors: Ints, paths: Paths) -> Ints:
        few = self.edges.degree[paths.first] * self.edges.degree[paths.second] <= MAX_PATHS
        return np.flatnonzero(few & (self.edges.target[paths.second] != anchors[paths.owner]))


def mine_chains(instances: Instances, edges: Edges, walker: Walker, settings: RulesSettings) -> RuleSet:
    """Count chains, keyed ``(head * num_types + B1) * num_types + B2``."""
    known = _pairs(instances, edges)
    by_known = Index(known, np.arange(len(known) + 1))
    supports, bodies = [], []
    for part in _samples(anchors_of(instances), walker):
        paths = walker.all(part.anchor)
        head, anchor = part.head[paths.owner], part.anchor[paths.owner]
        first, second = edges.fact[paths.first], edges.fact[paths.second]
        body = _apart(part.fact[paths.owner], first, second)
        place = by_known.find((head * edges.num_entities + anchor) * edges.num_entities + edges.target[paths.second])
        right = body & (place >= 0)
        right[right] = _apart(instances.fact[place[right]], first[right], second[right])
        key = (head * edges.num_types + edges.type[paths.first]) * edges.num_types + edges.type[paths.second]
        start = np.unique(paths.owner, return_inverse=True)[1] * edges.num_entities + edges.target[paths.second]
        bodies.append(_count(key[body], start[body]))
        supports.append(_count(key[right], start[right]))
    keys, support = _joined(supports)
    body_keys, body_counts = _joined(bodies)
    body = body_counts[np.searchsorted(body_keys, keys)] if len(keys) else support
    return _best(judged(keys, np.full(len(keys), -1), support, body, settings), edges.num_types**2)


def _pairs(instances: Instances, edges: Edges) -> Ints:
    """Head, anchor and answer of each instance as one key, ascending like the instances."""
    return (instances.head * edges.num_entities + instances.anchor) * edges.num_entities + instances.answer


def _apart(fact: Ints, first: Ints, second: Ints) -> Ints:
    """Whether the fact of a head, unless there are several, gives neither edge of the path."""
    return (fact == MANY) | ((fact != first) & (fact != second))


def _samples(anchors: Instances, walker: Walker) -> Iterator[Instances]:
    """The anchors that each head is counted on."""
    sizes = walker.sizes(anchors.anchor)
    starts = Index.of(anchors.head).starts
    budget = max(1, min(BUDGET, TOTAL // max(1, len(starts) - 1)))
    for start, end in pairwise(starts.tolist()):
        step = -(-int(sizes[start:end].sum()) // budget)
        if step:
            yield anchors.take(np.arange(start, end, step))


def _count(key: Ints, start: Ints) -> tuple[Ints, Ints]:
    """How many distinct starts (anchor and candidate) each key has."""
    names, numbers = np.unique(key, return_inverse=True)
    span = int(start.max(initial=0)) + 1
    return names, np.bincount(np.unique(numbers * span + start) // span, minlength=len(names))


def _joined(parts: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    empty = (np.empty(0, np.int64),) * 2
    keys, counts = (np.concatenate(column) for column in zip(empty, *parts, strict=True))
    return keys, counts


def _best(rules: RuleSet, width: int) -> RuleSet:
    """The most confident chains of each head, still sorted."""
    order = np.lexsort((-rules.confidence, rules.key // width))
    index = Index.of((rules.key // width)[order])
    places, _ = ranges(index.starts[:-1], np.minimum(index.counts, PER_HEAD))
    return rules.take(np.sort(order[places]))
