"""Dividing facts into train, valid and test so that nothing is asked that could not be learned.

Facts that must stay together (equal facts, or facts with the same primary triple) form a unit. Units are put in a
random order; the first unit that mentions an entity or a relation goes to train, so whatever valid and test mention,
train mentions too. The other units are free: they fill test, then valid, and the rest is train.

A split has exactly the wished size if units are single facts and enough of them are free. Otherwise it comes out
smaller: compare its size with what was asked for.
"""

import math
from collections.abc import Sequence

import numpy as np

from nary.data.dataset import Dataset
from nary.data.numbering import number_facts, number_primaries
from nary.errors import SettingError
from nary.facts import FactTable
from nary.facts.table import Rows


def split_facts(
    table: FactTable,
    shares: tuple[float, float] = (0.1, 0.1),
    seed: int = 0,
    *,
    keep_primary_together: bool = False,
) -> dict[str, FactTable]:
    """Divide into train, valid and test; ``shares`` are those of valid and test.

    Equal facts are never divided; with ``keep_primary_together`` neither are facts that share their primary triple.
    Every split keeps the facts in their old order.
    """
    valid_fraction, test_share = shares
    train, test, valid = _divide(table, (test_share, valid_fraction), seed, keep_primary_together)
    return {"train": train, "valid": valid, "test": test}


def split_dataset(
    dataset: Dataset,
    shares: tuple[float, float] = (0.1, 0.1),
    seed: int = 0,
    *,
    keep_primary_together: bool = False,
) -> Dataset:
    """Pool all facts of ``dataset`` and divide them anew; a note tells the sizes. Splits without facts are left out."""
    found = split_facts(dataset.facts, shares, seed, keep_primary_together=keep_primary_together)
    splits = {split: table for split, table in found.items() if len(table)}
    sizes = ", ".join(f"{split} {len(table):,}" for split, table in found.items())
    note = f"The {len(dataset.facts):,} facts are divided by chance (seed {seed}): {sizes}."
    wished = sum(_wished(share, len(dataset.facts)) for share in shares)
    if len(found["valid"]) + len(found["test"]) < wished:
        note += f" {wished:,} were wished for valid and test; the others are needed in train or must stay together."
    return dataset.with_splits(splits, note)


def hold_out(table: FactTable, share: float, seed: int = 0) -> tuple[FactTable, FactTable]:
    """Set a share of the facts aside, with the guarantees of :func:`split_facts`: (kept, held out)."""
    kept, held_out = _divide(table, (share,), seed, keep_primary_together=False)
    return kept, held_out


def _divide(table: FactTable, shares: Sequence[float], seed: int, keep_primary_together: bool) -> tuple[FactTable, ...]:
    """The rest, then one table for each of ``shares``."""
    _check(table, shares, seed)
    numbers = (number_primaries if keep_primary_together else number_facts)([table])[0]
    unit = _shuffled(numbers, seed)
    sizes = np.bincount(unit)
    part = np.full(len(sizes), -1)  # of each unit; -1 while it is free
    part[_covering(table, unit)] = 0
    for i, share in enumerate(shares, 1):
        _fill(part, i, sizes, _wished(share, len(table)))
    part[part < 0] = 0
    part_of_fact = part[unit]
    return tuple(table.take(np.flatnonzero(part_of_fact == i)) for i in range(len(shares) + 1))


def _check(table: FactTable, shares: Sequence[float], seed: int) -> None:
    if not all(0 <= share < 1 for share in shares) or sum(shares) >= 1:
        given = " and ".join(str(share) for share in shares)
        raise SettingError(
            f"cannot set aside {given} of the facts", "A share lies between 0 and 1, and all together leave some train."
        )
    if seed < 0:
        raise SettingError(f"the seed is {seed}", "A seed is 0 or greater.")
    if len(table) <= len(shares):
        raise SettingError(f"{len(table)} facts are too few to make {len(shares) + 1} splits", "Give more facts.")


def _wished(share: float, size: int) -> int:
    """The number of facts a share means: at least one, though a share of a small table may round to nothing."""
    return max(1, math.floor(share * size + 0.5)) if share else 0


def _shuffled(numbers: Rows, seed: int) -> Rows:
    """The same units, numbered anew in a random order.

    It depends on nothing but the seed and the order of the facts: a unit's place is decided by the random word of its
    first fact, and the raw words of the generator are the same for every version of numpy.
    """
    words = np.random.PCG64(seed).random_raw(len(numbers))
    _, first, unit = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(words[first])
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place[unit]


def _covering(table: FactTable, unit: Rows) -> Rows:
    """The units that mention an entity or a relation first."""
    nowhere = len(unit)
    firsts = []
    for ids in ([block.entities for block in table.blocks], [block.relations for block in table.blocks]):
        first = np.full(1 + max(int(own.max()) for own in ids), nowhere)
        for block, own in zip(table.blocks, ids, strict=True):
            np.minimum.at(first, own, unit[block.rows][:, None])
        firsts.append(first[first < nowhere])
    return np.unique(np.concatenate(firsts))


def _fill(part: Rows, number: int, sizes: Rows, wished: int) -> None:
    """Give free units to part ``number``, last first, passing over those that are larger than what is still wished.

    Last first, because early in the order the free units are those that mention nothing rare: mostly small facts.
    """
    while len(free := np.flatnonzero((part < 0) & (sizes <= wished))[::-1]):
        fitting = free[: np.searchsorted(np.cumsum(sizes[free]), wished, side="right")]
        part[fitting] = number
        wished -= int(sizes[fitting].sum())
