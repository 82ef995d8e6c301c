"""Counting: rules and their confidences from the training facts, by joins of sorted arrays.

Bodies and heads are counted as distinct pairs of an anchor and an answer. A fact never supports itself: a pair counts
only if the head comes from one fact and the body from another.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nary.models.rules.arrays import Index, Ints
from nary.models.rules.edges import MANY, Edges, unique_with_fact
from nary.models.rules.features import Features
from nary.models.rules.heads import Instances
from nary.models.rules.settings import RulesSettings

Floats = npt.NDArray[np.float64]
_ROWS = 1 << 22
"""The largest number of rows of a join that is held at a time."""


@dataclass(frozen=True, eq=False)
class RuleSet:
    """Rules of one kind, sorted: ``key`` [n] names head and body, ``answer`` [n] what a constant rule concludes."""

    key: Ints
    answer: Ints
    support: Ints
    body: Ints
    confidence: Floats

    def __len__(self) -> int:
        return len(self.key)

    def take(self, rows: npt.NDArray[np.generic]) -> "RuleSet":
        """The rules at ``rows``."""
        return RuleSet(self.key[rows], self.answer[rows], self.support[rows], self.body[rows], self.confidence[rows])


def judged(key: Ints, answer: Ints, support: Ints, body: Ints, settings: RulesSettings) -> RuleSet:
    """The rules that are good enough."""
    confidence = support / (body + settings.prior)
    rules = RuleSet(key, answer, support, body, confidence)
    return rules.take(np.flatnonzero((support >= settings.min_support) & (confidence >= settings.min_confidence)))


def mine_links(instances: Instances, edges: Edges, settings: RulesSettings) -> RuleSet:
    """Rules "x is the answer if the anchor has an edge of type B to x", keyed ``head * num_types + B``."""
    width = edges.num_types
    open_edges = np.flatnonzero(edges.degree <= settings.max_degree)  # those that do not start from a hub
    pair = edges.source[open_edges] * edges.num_entities + edges.target[open_edges]
    order = np.argsort(pair, kind="stable")
    by_pair, open_edges = Index.of(pair[order]), open_edges[order]
    rows, owners = by_pair.rows(instances.anchor * edges.num_entities + instances.answer)
    body_edges = open_edges[rows]
    others = _differ(instances.fact[owners], edges.fact[body_edges])
    keys, support = np.unique((instances.head[owners] * width + edges.type[body_edges])[others], return_counts=True)
    body = _link_bodies(anchors_of(instances), edges, settings, keys)
    return judged(keys, np.full(len(keys), -1), support, body, settings)


def _link_bodies(anchors: Instances, edges: Edges, settings: RulesSettings, keys: Ints) -> Ints:
    """How many pairs of an anchor and a candidate the body of each of ``keys`` has."""
    width = edges.num_types
    source_type = Index.of(edges.source_type)
    source, type_ = np.divmod(source_type.keys.astype(np.int64), width)
    degree = source_type.counts
    kept = degree <= settings.max_degree
    source, type_, degree = source[kept], type_[kept], degree[kept]
    by_source = Index.of(source)
    body = np.zeros(len(keys), np.int64)
    index = Index(keys, np.arange(len(keys) + 1))
    for part in _chunks(anchors, by_source):
        rows, owners = by_source.rows(part.anchor)
        places = index.find(part.head[owners] * width + type_[rows])
        wanted = places >= 0
        body += np.bincount(places[wanted], degree[rows[wanted]], minlength=len(keys)).astype(np.int64)
    # What only the fact of the head itself says is no body.
    alone = np.flatnonzero((edges.fact != MANY) & (edges.degree <= settings.max_degree))
    span = int(max(edges.fact.max(initial=0), anchors.fact.max(initial=0))) + 1
    by_both = edges.source[alone] * span + edges.fact[alone]
    order = np.argsort(by_both, kind="stable")
    single = anchors.take(np.flatnonzero(anchors.fact != MANY))
    rows, owners = Index.of(by_both[order]).rows(single.anchor * span + single.fact)
    places = index.find(single.head[owners] * width + edges.type[alone[order][rows]])
    return body - np.bincount(places[places >= 0], minlength=len(keys))


def anchors_of(instances: Instances) -> Instances:
    """The distinct pairs of head and anchor, with the only fact of each; answers play no part."""
    span = int(instances.anchor.max(initial=0)) + 1
    keys, fact = unique_with_fact(instances.head * span + instances.anchor, instances.fact)
    return Instances(keys // span, keys % span, np.full(len(keys), -1), fact)


def mine_constants(instances: Instances, features: Features, settings: RulesSettings) -> RuleSet:
    """Rules "x is the answer if the anchor has feature F", keyed ``head * num_features + F``."""
    answers = int(instances.answer.max(initial=0)) + 1
    parts = []
    for part in _chunks(instances, features.by_entity):
        rows, owners = features.by_entity.rows(part.anchor)
        others = _differ(part.fact[owners], features.fact[rows])
        rows, owners = rows[others], owners[others]
        key = (part.head[owners] * len(features) + features.feature[rows]) * answers + part.answer[owners]
        keys, support = np.unique(key, return_counts=True)
        frequent = support >= settings.min_support
        parts.append((keys[frequent], support[frequent]))
    keys, support = (np.concatenate([np.empty(0, np.int64), *column]) for column in zip(*parts, strict=True))
    key, answer = np.divmod(keys, answers)
    wanted = np.unique(key)
    body = np.zeros(len(wanted), np.int64)
    index = Index(wanted, np.arange(len(wanted) + 1))
    for part in _chunks(anchors_of(instances), features.by_entity):
        rows, owners = features.by_entity.rows(part.anchor)
        others = _differ(part.fact[owners], features.fact[rows])
        places = index.find((part.head[owners] * len(features) + features.feature[rows])[others])
        body += np.bincount(places[places >= 0], minlength=len(wanted))
    return judged(key, answer, support, body[index.find(key)], settings)


def mine_pairs(instances: Instances, edges: Edges, settings: RulesSettings) -> RuleSet:
    """Rules "x is the answer if an edge of type B links the two anchors", keyed ``head * num_types + B``."""
    width, answers = edges.num_types, int(instances.answer.max(initial=0)) + 1
    pair = edges.source * edges.num_entities + edges.target
    order = np.argsort(pair, kind="stable")
    by_pair = Index.of(pair[order])

    def join(part: Instances) -> tuple[Ints, Ints]:
        rows, owners = by_pair.rows(part.anchor)
        rows = order[rows]
        others = _differ(part.fact[owners], edges.fact[rows])
        return (part.head[owners] * width + edges.type[rows])[others], owners[others]

    key, owners = join(instances)
    keys, support = np.unique(key * answers + instances.answer[owners], return_counts=True)
    key, answer = np.divmod(keys, answers)
    bodies, counts = np.unique(join(anchors_of(instances))[0], return_counts=True)
    return judged(key, answer, support, counts[np.searchsorted(bodies, key)], settings)


def _differ(first: Ints, second: Ints) -> npt.NDArray[np.bool_]:
    """Whether there are two different facts, one of each."""
    return (first != second) | (first == MANY)


def _chunks(instances: Instances, index: Index) -> Iterator[Instances]:
    """Parts of ``instances``, whole heads each, whose join with ``index`` stays small."""
    places = index.find(instances.anchor)
    sizes = np.where(places >= 0, index.counts[places] if len(index.keys) else 0, 0)
    ends = Index.of(instances.head).starts[1:]
    totals = np.cumsum(sizes)[ends - 1] if len(ends) else np.empty(0, np.int64)
    start, done = 0, 0
    for end, total, following in zip(ends, totals, np.append(totals[1:], 1 << 62), strict=True):
        if following - done > _ROWS:
            yield instances.take(np.arange(start, end))
            start, done = end, total
