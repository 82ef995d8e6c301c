"""Which attribute the next qualifier of a fact has, counted in training facts."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nary.facts import FactTable
from nary.facts.layout import OBJECT, RELATION

Floats = npt.NDArray[np.float64]


def attribute_shares(
    train: FactTable, relation: int, object: int, present: Sequence[int], num_relations: int
) -> tuple[Floats, bool]:
    """The probability of each attribute [R] for the next qualifier of a fact with the attributes ``present``.

    Every fact of the relation that has more than these attributes spreads one count evenly over what it has more. All
    such facts count; then those that have all of ``present``, which weigh less the more they have beyond; then of these
    those with the same object. What is counted before counts as one more fact in the next count, and so do all
    attributes in train in the first. The flag says whether any fact has more.
    """
    shares = np.zeros(num_relations)
    counts, objects, weights = [], [], []
    blocks = [block for block in train.blocks if block.qualifiers]
    rows = [np.flatnonzero(block.ids[:, RELATION] == relation) for block in blocks]
    attributes = [block.attributes[same] for block, same in zip(blocks, rows, strict=True)]
    names = np.unique(np.concatenate([np.empty(0, np.int32), *map(np.ravel, attributes)]))
    for block, same, of_fact in zip(blocks, rows, attributes, strict=True):
        shares += np.bincount(block.attributes.ravel(), minlength=num_relations)
        counts.append(np.zeros((len(same), len(names))))
        np.add.at(counts[-1], (np.arange(len(same))[:, None], np.searchsorted(names, of_fact)), 1)
        objects.append(block.ids[same, OBJECT])
        weights.append(np.full(len(same), _weight(block.qualifiers, len(present))))
    shares /= max(1.0, shares.sum())
    if not len(names):
        return shares, False
    counted, given = np.concatenate(counts), np.array([list(present).count(name) for name in names.tolist()])
    further = np.maximum(0, counted - given)
    further /= np.maximum(1, further.sum(axis=1, keepdims=True))
    has_all = (counted >= given).all(axis=1) & (given.sum() == len(present))
    whole = further * np.concatenate(weights)[:, None]
    for nearer in (further, whole[has_all], whole[has_all & (np.concatenate(objects) == object)]):
        shares /= 1 + nearer.sum()
        shares[names] += nearer.sum(axis=0) / (1 + nearer.sum())
    return shares, bool(further.any())


def _weight(qualifiers: int, present: int) -> float:
    """How likely a fact was shortened to the qualifiers that are present, compared with one that has one more.

    As if people left out any number of qualifiers with the same probability.
    """
    if qualifiers <= present:
        return 0.0
    return (present + 1) * (present + 2) / ((qualifiers + 1) * math.comb(qualifiers, present))
