"""The scores of the models as they are printed, for one tuple, with plain numbers and loops."""

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from nary.models.tuples.base import TupleModel

Vector = list[float]


def naive_score(model: TupleModel, relations: list[int], entities: list[int], slot: int) -> float:
    """The score of the tuple of these ids if ``slot`` is asked for; ``relations`` is its relation and attributes."""
    keys = model.schemas.keys.tolist()
    schema = keys.index(relations + [-1] * (len(keys[0]) - len(relations)))
    return _SCORES[model.name](model, schema, entities, slot)


def _summed_product(vectors: Sequence[Vector]) -> float:
    return sum(math.prod(coordinates) for coordinates in zip(*vectors, strict=True))


def _m_distmult(model: Any, schema: int, entities: list[int], slot: int) -> float:
    return _summed_product([model.relation[schema].tolist(), *(model.entity[e].tolist() for e in entities)])


def _cp(model: Any, schema: int, entities: list[int], slot: int) -> float:
    relation = model.relation[schema].tolist()
    d = len(relation)
    return _summed_product([relation, *(model.entity[e].tolist()[i * d : (i + 1) * d] for i, e in enumerate(entities))])


def _hsimple(model: Any, schema: int, entities: list[int], slot: int) -> float:
    factors = [model.relation[schema].tolist()]
    for i, e in enumerate(entities):
        vector = model.entity[e].tolist()
        shift = int(i * len(vector) / model.info.max_arity)
        factors.append(vector[shift:] + vector[:shift])
    return _summed_product(factors)


def _hype(model: Any, schema: int, entities: list[int], slot: int) -> float:
    settings = model.settings
    weight, bias = model.projection.weight.tolist(), model.projection.bias.tolist()
    factors = [model.relation[schema].tolist()]
    for i, e in enumerate(entities):
        vector = model.entity[e].tolist()
        flat = []
        for one in model.filters[i].tolist():
            start = 0
            while start + settings.filter_size <= settings.embedding_dim:
                flat.append(sum(one[t] * vector[start + t] for t in range(settings.filter_size)))
                start += settings.stride
        factors.append(
            [b + sum(w * x for w, x in zip(row, flat, strict=True)) for row, b in zip(weight, bias, strict=True)]
        )
    return _summed_product(factors)


def _ram(model: Any, schema: int, entities: list[int], slot: int) -> float:
    n, parts = len(entities), model.parts
    basis = model.basis.tolist()
    d = len(basis[0])
    patterns = getattr(model, f"pattern_{n}").tolist()  # [K][n][M]
    total = 0.0
    for a in range(n):
        raw = [math.exp(x) for x in model.weights[schema, a].tolist()]
        alpha = [x / sum(raw) for x in raw]
        for c in range(d):
            term = sum(share * base[c] for share, base in zip(alpha, basis, strict=True))
            for i, e in enumerate(entities):
                vector, mixed = model.entity[e].tolist(), 0.0
                for j in range(parts):
                    pattern = 0.0
                    for share, own in zip(alpha, patterns, strict=True):
                        whole = sum(math.exp(x) for row in own for x in row)
                        pattern += share * math.exp(own[i][j]) / whole
                    mixed += pattern * vector[j * d + c]
                term *= mixed
            total += term
    return total


def _normalized(norm: Any, vector: Vector) -> Vector:
    parts = (norm.running_mean, norm.running_var, norm.weight, norm.bias)
    rows = zip(vector, *(part.tolist() for part in parts), strict=True)
    return [(x - mean) / math.sqrt(variance + 1e-5) * scale + shift for x, mean, variance, scale, shift in rows]


def _tensor(model: Any, schema: int, entities: list[int], slot: int, core: Callable[[tuple[int, ...]], float]) -> float:
    width = model.width
    vectors = [_normalized(model.relation_norm, model.relation[schema].tolist())]
    vectors += [_normalized(model.entity_norm, model.entity[e].tolist()) for e in entities]
    query = [0.0] * width
    for place in product(range(width), repeat=len(vectors)):
        known = (vector[j] for mode, (vector, j) in enumerate(zip(vectors, place, strict=True)) if mode != slot + 1)
        query[place[slot + 1]] += core(place) * math.prod(known)
    answer = model.entity[entities[slot]].tolist()
    return sum(q * e for q, e in zip(_normalized(model.query_norm, query), answer, strict=True))


def _n_tucker(model: Any, schema: int, entities: list[int], slot: int) -> float:
    core = getattr(model, f"core_{len(entities)}").detach()
    return _tensor(model, schema, entities, slot, lambda place: float(core[place]))


def _getd(model: Any, schema: int, entities: list[int], slot: int) -> float:
    ring = getattr(model, f"ring_{len(entities)}")

    def core(place: tuple[int, ...]) -> float:
        rank = range(ring.shape[1])
        factors = [ring[mode, :, j].tolist() for mode, j in enumerate(place)]
        found = factors[0]
        for factor in factors[1:]:
            found = [[sum(found[a][c] * factor[c][b] for c in rank) for b in rank] for a in rank]
        return sum(found[a][a] for a in rank)

    return _tensor(model, schema, entities, slot, core)


def _m_transh(model: Any, schema: int, entities: list[int], slot: int) -> float:
    normal = model.normal[schema].tolist()
    total = model.bias[schema].tolist()
    for i, e in enumerate(entities):
        vector, weight = model.entity[e].tolist(), model.weight[schema, i].item()
        along = sum(w * x for w, x in zip(normal, vector, strict=True))
        total = [t + weight * (x - along * w) for t, x, w in zip(total, vector, normal, strict=True)]
    square = sum(x * x for x in total)
    return -square if model.variant == "published" else -math.sqrt(square)


_SCORES = {
    "m-distmult": _m_distmult,
    "m-cp": _cp,
    "n-cp": _cp,
    "hsimple": _hsimple,
    "hype": _hype,
    "ram": _ram,
    "n-tucker": _n_tucker,
    "getd": _getd,
    "m-transh": _m_transh,
    "rae": _m_transh,
}
