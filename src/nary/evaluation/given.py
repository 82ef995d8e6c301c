"""Queries that give part of a fact: which qualifiers are left out is a fixed choice for every fact."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from nary.evaluation.queries import MaskedBlock, Shortened
from nary.facts import Block
from nary.facts.layout import FIRST_ATTRIBUTE
from nary.facts.table import Ids, Rows

CURVE_LEVELS = (0, 1, 2)
"""How many qualifiers are given at the points of a curve, before all."""


def num_others(masked: MaskedBlock) -> int:
    """How many qualifiers the queries of a block have besides that of the masked element."""
    return masked.block.qualifiers - int(masked.column >= FIRST_ATTRIBUTE)


def give(blocks: Sequence[MaskedBlock], given: int | str) -> list[MaskedBlock]:
    """The queries of blocks of whole facts with as much given as ``evaluation.given`` says."""
    if given == "all":
        return list(blocks)
    if given == "curve":
        fewer = (shorten(masked, level) for level in CURVE_LEVELS for masked in blocks if num_others(masked))
        return [*blocks, *chain.from_iterable(fewer)]
    return [part for masked in blocks for part in shorten(masked, 0 if given == "none" else int(given))]


def shorten(masked: MaskedBlock, given: int) -> list[MaskedBlock]:
    """The queries of a block of whole facts with at most ``given`` qualifiers besides that of the masked element.

    The place of the masked qualifier among those kept differs, so there may be several blocks.
    """
    qualifiers, column = masked.block.qualifiers, masked.column
    in_qualifier = column >= FIRST_ATTRIBUTE
    order = _order(masked.ids, qualifiers)
    if in_qualifier:
        number = (column - FIRST_ATTRIBUTE) % qualifiers
        order = np.column_stack([np.full(len(order), number), order[order != number].reshape(len(order), -1)])
    kept = np.sort(order[:, : given + in_qualifier], axis=1)  # [n, k]
    place = (kept < number).sum(1) if in_qualifier else np.zeros(len(kept), np.int64)
    columns = FIRST_ATTRIBUTE + place + (kept.shape[1] if column >= FIRST_ATTRIBUTE + qualifiers else 0)
    pairs = (np.take_along_axis(part, kept, 1) for part in (masked.block.attributes, masked.block.values))
    ids = np.concatenate([masked.ids[:, :FIRST_ATTRIBUTE], *pairs], axis=1)
    origin = Shortened(given, masked.block.arity, column)
    return [
        MaskedBlock(
            Block(ids[rows], masked.block.rows[rows]), int(columns[rows[0]]) if in_qualifier else column, origin
        )
        for rows in (np.flatnonzero(place == one) for one in np.unique(place))
    ]


def _order(ids: Ids, qualifiers: int) -> Rows:
    """The order in which the qualifiers of each fact are given [n, m]: random, but always the same for a fact."""
    words = np.zeros(len(ids), np.uint64)
    for column in ids.T:
        words = _mix(words ^ column.astype(np.uint64))
    numbers = np.arange(1, qualifiers + 1, dtype=np.uint64)
    return np.argsort(_mix(words[:, None] ^ (numbers << np.uint64(32))), axis=1, kind="stable")


def _mix(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A bijection of 64-bit words that scatters them (the finalizer of splitmix64)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
