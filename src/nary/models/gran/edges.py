"""The types of edges GRAN's attention sees, and how many there are."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from nary.facts.graph import EdgeType, edge_matrix
from nary.models.gran.settings import GranSettings

_RELATION, _SUBJECT, _OBJECT, _ATTRIBUTE, _VALUE = range(5)


def vertex_roles(qualifiers: int) -> npt.NDArray[np.int64]:
    """The role of each vertex [T]: 0 relation, 1 subject, 2 object, 3 attribute, 4 value."""
    return np.array([_RELATION, _SUBJECT, _OBJECT, *[_ATTRIBUTE] * qualifiers, *[_VALUE] * qualifiers])


@lru_cache(maxsize=256)
def edge_types(qualifiers: int, settings: GranSettings) -> npt.NDArray[np.int64]:
    """The type of the edge between each two vertices [T, T]; 0 has no bias."""
    types = edge_matrix(qualifiers, settings.variant)
    if settings.pair_edges:
        roles = vertex_roles(qualifiers)
        low, high = np.minimum.outer(roles, roles), np.maximum.outer(roles, roles)
        extra = len(EdgeType) + low * 5 + high  # a type for each pair of roles
        types = np.where(types == EdgeType.NONE, extra, types)
        np.fill_diagonal(types, len(EdgeType) + 25)
    return types


def edge_type_count(settings: GranSettings) -> int:
    """How many types with a bias there are; the type 0 is not one of them."""
    return len(EdgeType) + 25 if settings.pair_edges else len(EdgeType) - 1
