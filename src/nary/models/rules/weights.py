"""How much the rules of each head count: weights fitted on training facts that are left out of the counting.

Rules from different anchors are joined as if they were independent. They are not: the year of a fact says little about
where somebody lives, whatever its rules claim, and where the employer is says nearly everything. So each kind of rules
of each head has a weight for its evidence. Rules are counted without a sample of the facts, and the weights are those
under which the elements of these facts are most probable, close to 1 unless they say otherwise.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nary.facts import FactTable, layout
from nary.models.rules.arrays import Ints
from nary.models.rules.heads import Heads
from nary.models.rules.mining import Floats
from nary.models.rules.scoring import Engine, Matches, log_odds
from nary.models.rules.settings import RulesSettings
from nary.models.rules.tables import KINDS, Base, Kind, mine

_SHARE, _FEWEST, _MOST = 0.1, 20, 2000
"""The share of the facts that is left out, and the least and largest number of them."""
_CANDIDATES = 64
"""How many candidates of a query are told apart; the others count together, with all weights 1."""
_CHUNK = 256
_PENALTY = 0.3
"""Of the squared logarithm of a weight; the larger, the closer are weights to each other and to 1."""
_ITERATIONS = 40
_DIGITS = 3
"""Weights are rounded, so that they do not depend on the machine."""

Weights = Mapping[Kind, Floats]
"""The weight of each head [H] by kind of rule."""


def fit_weights(
    facts: FactTable, num_entities: int, num_relations: int, settings: RulesSettings, heads: Heads
) -> Weights | None:
    """The weights for ``heads``, those of all ``facts``; None if there are too few facts to fit any."""
    size = min(_MOST, int(_SHARE * len(facts)))
    if size < _FEWEST:
        return None
    order = np.random.default_rng(0).permutation(len(facts))
    left_out, rest = facts.take(np.sort(order[:size])), facts.take(np.sort(order[size:]))
    base = Base.of(rest, num_entities, num_relations, settings)
    engine = Engine(rest, num_entities, num_relations, mine(rest, base, settings))
    parts = list(_observe(engine, left_out, heads))
    if not parts:
        return None
    logarithms = _most_likely(_join(parts), _shapes(heads))
    weights = np.round(np.exp(logarithms), _DIGITS).reshape(len(KINDS), len(heads))
    return dict(zip(KINDS, weights, strict=True))


class _Observed(NamedTuple):
    """Queries with the evidence for their candidates: a row each in ``rest``, ``answer``, in ``base`` and ``query``.

    ``rest`` [Q] are the odds of all candidates that are not told apart, and ``answer`` [Q] is the number of the right
    one among those that are. These have ``base`` [P], what their target slot says for them, and their ``query`` [P].
    The evidence of one kind and head for one ``candidate`` is one of ``evidence`` [n]; its weight is ``weight`` [n].
    """

    rest: Tensor
    answer: Tensor
    base: Tensor
    query: Tensor
    evidence: Tensor
    candidate: Tensor
    weight: Tensor


def _observe(engine: Engine, facts: FactTable, heads: Heads) -> Iterator[_Observed]:
    """All queries for the entities of ``facts``, in chunks."""
    for block in facts.blocks:
        for column in block.entity_columns:
            for start in range(0, len(block.ids), _CHUNK):
                ids = block.ids[start : start + _CHUNK].astype(np.int64)
                matches = [one for one in engine.candidates(ids, column) if len(one.row)]
                if matches:
                    yield _observe_chunk(engine, ids, column, matches, heads)


def _observe_chunk(engine: Engine, ids: Ints, column: int, matches: list[Matches], heads: Heads) -> _Observed:
    floor, owners = engine.floor(ids, column)
    width = floor.shape[1]
    answers = np.arange(len(ids)) * width + ids[:, column]
    place, weight, evidence = _strongest(matches, engine, heads, width)
    # Other answers that are known are no wrong answers.
    anchors = {at for at in layout.entity_columns(layout.num_qualifiers(ids.shape[1])) if at != column}
    known = [one.row * width + one.candidate for one in matches if one.kind == "same" and {*one.columns} == anchors]
    wrong = np.setdiff1d(np.concatenate([np.empty(0, np.int64), *known]), answers)
    kept = ~np.isin(place, wrong)
    place, weight, evidence = place[kept], weight[kept], evidence[kept]
    candidates, inverse = np.unique(np.concatenate([answers, place]), return_inverse=True)
    answer, candidate = inverse[: len(ids)], inverse[len(ids) :]
    base = -np.log1p(-floor.view(-1).numpy().astype(float)[owners[candidates // width] * width + candidates % width])
    total = base + np.bincount(candidate, evidence, minlength=len(candidates))
    odds, query = np.expm1(total), candidates // width
    best = np.zeros(len(candidates), bool)
    order = np.lexsort((-total, query))
    starts = np.searchsorted(query[order], np.arange(len(ids)))
    best[order[np.arange(len(order)) - starts[query[order]] < _CANDIDATES]] = True
    best[answer] = True
    slot_odds = (floor / (1 - floor)).sum(1).double().numpy()[owners]
    rest = slot_odds - np.bincount(query, np.expm1(base), minlength=len(ids))
    rest = np.maximum(rest, 1e-9) + np.bincount(query[~best], odds[~best], minlength=len(ids))
    number = np.cumsum(best) - 1
    told = best[candidate]
    columns = (rest, number[answer], base[best], query[best], evidence[told], number[candidate[told]], weight[told])
    return _Observed(*map(torch.from_numpy, columns))


def _strongest(matches: list[Matches], engine: Engine, heads: Heads, width: int) -> tuple[Ints, Ints, Floats]:
    """The strongest evidence of each kind and head for each candidate: its place, the number of the weight, and it."""
    places, weights, evidence = [], [], []
    for one in matches:
        head = heads.numbers(engine.heads.index.keys[one.head].astype(np.uint64))
        places.append(one.row * width + one.candidate)
        weights.append(KINDS.index(one.kind) * len(heads) + head)
        evidence.append(one.evidence.double().numpy())
    place, weight, strength = map(np.concatenate, (places, weights, evidence))
    order = np.lexsort((-strength, weight, place))
    place, weight, strength = place[order], weight[order], strength[order]
    first = np.concatenate([[True], (place[1:] != place[:-1]) | (weight[1:] != weight[:-1])])
    return place[first], weight[first], strength[first]


def _join(parts: list[_Observed]) -> _Observed:
    """The observations of all chunks, numbered through."""
    queries = np.cumsum([0, *(len(part.rest) for part in parts)]).tolist()
    candidates = np.cumsum([0, *(len(part.base) for part in parts)]).tolist()
    shifted = [
        part._replace(query=part.query + first, answer=part.answer + start, candidate=part.candidate + start)
        for part, first, start in zip(parts, queries, candidates, strict=False)
    ]
    return _Observed(*map(torch.cat, zip(*shifted, strict=True)))


def _shapes(heads: Heads) -> Ints:
    """A number [kinds * H] for each kind of rule and head: equal if target and anchors have the same roles."""
    roles = np.where(heads.slots >= 0, heads.slots % 8, -1)
    shape = np.unique(roles, axis=0, return_inverse=True)[1].ravel()
    return np.concatenate([shape + kind * (int(shape.max(initial=0)) + 1) for kind in range(len(KINDS))])


def _most_likely(observed: _Observed, shapes: Ints) -> Floats:
    """The logarithms of all weights: the sum of one for the shape of the head and one for the head itself."""
    used, weight = np.unique(observed.weight.numpy(), return_inverse=True)
    number, shape = torch.from_numpy(weight), torch.from_numpy(shapes[used])
    of_shape = torch.zeros(int(shapes.max()) + 1, dtype=torch.float64, requires_grad=True)
    of_head = torch.zeros(len(used), dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([of_shape, of_head], max_iter=_ITERATIONS, line_search_fn="strong_wolfe")
    rest = observed.rest.log()

    def loss() -> Tensor:
        optimizer.zero_grad()
        weights = (of_shape[shape] + of_head).exp()
        total = observed.base.index_add(0, observed.candidate, weights[number] * observed.evidence)
        scores = log_odds(total)
        highest = rest.scatter_reduce(0, observed.query, scores.detach(), "amax")
        exponentials = (scores - highest[observed.query]).exp()
        sums = (rest - highest).exp().index_add(0, observed.query, exponentials)
        likelihood = scores[observed.answer] - highest - sums.log()
        value = _PENALTY * (of_shape.square().sum() + of_head.square().sum()) - likelihood.sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    logarithms = of_shape.detach()[torch.from_numpy(shapes)]
    logarithms[torch.from_numpy(used)] += of_head.detach()
    return logarithms.numpy()
