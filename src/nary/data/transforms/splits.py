"""Splitting facts into train, valid and test so that train covers every entity and relation.

:func:`split_dataset` also keeps the share of each relation: see :mod:`nary.data.transforms.stratify`. For the others:

Facts that must stay together (equal facts, or facts with the same primary triple) form a unit. Units are shuffled; the
first unit with an entity or relation goes to train, so train contains every name of valid and test. The other units are
free: they fill test, then valid, and the rest goes to train.

A split has exactly the requested size if units are single facts and enough of them are free. Otherwise it is smaller.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from nary.data.dataset import Dataset
from nary.data.transforms.duplicates import number_facts, number_triples
from nary.data.transforms.stratify import TOLERANCE, Stratifier
from nary.errors import DatasetError, SettingError
from nary.facts import FactTable
from nary.facts.literal import is_literal
from nary.facts.table import Rows
from nary.wording import counted


def split_facts(
    table: FactTable,
    valid_fraction: float = 0.1,
    test_fraction: float = 0.1,
    seed: int = 0,
    *,
    keep_primary_together: bool = False,
) -> dict[str, FactTable]:
    """Split facts into train, valid and test.

    Equal facts stay in one split; with ``keep_primary_together``, so do facts with the same primary triple. Each split
    keeps the order of its facts.
    """
    train, test, valid = _split(table, (test_fraction, valid_fraction), seed, keep_primary_together)
    return {"train": train, "valid": valid, "test": test}


def split_dataset(
    dataset: Dataset,
    valid_fraction: float = 0.1,
    test_fraction: float = 0.1,
    seed: int = 0,
    *,
    keep_primary_together: bool = False,
) -> Dataset:
    """Pool all facts of ``dataset`` and split them randomly, each relation alike; empty splits are omitted.

    Equal facts stay in one split; with ``keep_primary_together``, so do facts with the same primary triple. Every name
    of valid and test occurs in train, except for literals.
    """
    facts = dataset.facts
    _check(facts, (valid_fraction, test_fraction), seed)
    numbers = (number_triples if keep_primary_together else number_facts)([facts])[0]
    unit = _shuffle(numbers, seed)
    stratifier = Stratifier(facts, unit, np.array([is_literal(name) for name in dataset.vocabulary.entities]))
    requested = {"test": _num_facts(test_fraction, len(facts)), "valid": _num_facts(valid_fraction, len(facts))}
    for number, size in enumerate(requested.values(), 1):
        stratifier.fill(number, size)
    part = stratifier.part[unit]
    splits = {split: facts.take(np.flatnonzero(part == i)) for i, split in ((0, "train"), (2, "valid"), (1, "test"))}
    sizes = ", ".join(f"{split} {len(table):,}" for split, table in splits.items())
    note = f"The {len(facts):,} facts are split randomly (seed {seed}): {sizes}."
    note += _shortages(dataset, splits, requested, stratifier)
    return dataset.with_splits({split: table for split, table in splits.items() if len(table)}, note)


def _shortages(
    dataset: Dataset, splits: Mapping[str, FactTable], requested: Mapping[str, int], stratifier: Stratifier
) -> str:
    """Say what could not be as requested: sizes, and shares of relations."""
    note = ""
    total = sum(requested.values())
    if len(splits["valid"]) + len(splits["test"]) < total:
        note += f" {total:,} were requested for valid and test; the others are needed in train or stay together."
    differing: dict[int, float] = {}
    for number, split in enumerate(requested, 1):
        for relation, difference in enumerate(np.abs(stratifier.shares(number) - stratifier.all_shares).tolist()):
            if len(splits[split]) and difference > TOLERANCE:
                differing[relation] = max(difference, differing.get(relation, 0.0))
    if differing:
        most = sorted(differing, key=lambda relation: -differing[relation])[:3]
        names = ", ".join(f"{dataset.vocabulary.relations[i]!r} by {differing[i]:.0%}" for i in most)
        note += f" The shares of relations differ, because facts with names of their own stay in train: {names}."
    return note


def hold_out(table: FactTable, fraction: float, seed: int = 0) -> tuple[FactTable, FactTable]:
    """Hold out a fraction of the facts, with the guarantees of :func:`split_facts`; return (kept, held out)."""
    kept, held_out = _split(table, (fraction,), seed, keep_primary_together=False)
    return kept, held_out


def hold_out_valid(dataset: Dataset, fraction: float) -> Dataset:
    """Hold out a fraction of train, always the same facts, as the valid split.

    If the dataset has a valid split, the facts are held out of that, and its other facts go to train: a model then
    trains on nearly all the facts of train and valid, and can still be selected on facts it was not trained on.
    """
    if "valid" in dataset.splits:
        source = "valid"
        rest, valid = _sample(dataset["valid"], fraction)
        train = FactTable.concatenate([dataset.train, rest])
    else:
        source = "train"
        train, valid = hold_out(dataset.train, fraction)
    if not len(valid):
        raise DatasetError(
            f"no fact of {dataset.name} can be held out as valid",
            "Each has an element that no other fact of train has. Give a valid split, or omit valid_fraction.",
        )
    others = {split: table for split, table in dataset.splits.items() if split not in ("train", "valid")}
    are = "is" if len(valid) == 1 else "are"
    note = f"{counted(len(valid), 'fact')} (fraction {fraction}, seed 0) of {source} {are} held out as valid"
    note += "; its other facts are in train." if source == "valid" else "."
    return dataset.with_splits({"train": train, "valid": valid, **others}, note)


def _sample(table: FactTable, fraction: float, seed: int = 0) -> tuple[FactTable, FactTable]:
    """The rest, and a random ``fraction`` of the facts; equal facts stay together."""
    unit = _shuffle(number_facts([table])[0], seed)
    chosen = unit < _num_facts(fraction, int(unit.max(initial=-1)) + 1)
    return table.take(np.flatnonzero(~chosen)), table.take(np.flatnonzero(chosen))


def _split(
    table: FactTable, fractions: Sequence[float], seed: int, keep_primary_together: bool
) -> tuple[FactTable, ...]:
    """Return the rest, then one table for each of ``fractions``."""
    _check(table, fractions, seed)
    numbers = (number_triples if keep_primary_together else number_facts)([table])[0]
    unit = _shuffle(numbers, seed)
    sizes = np.bincount(unit)
    part = np.full(len(sizes), -1)  # of each unit; -1 while it is free
    part[_covering_units(table, unit)] = 0
    for i, fraction in enumerate(fractions, 1):
        _fill(part, i, sizes, _num_facts(fraction, len(table)))
    part[part < 0] = 0
    part_of_fact = part[unit]
    return tuple(table.take(np.flatnonzero(part_of_fact == i)) for i in range(len(fractions) + 1))


def _check(table: FactTable, fractions: Sequence[float], seed: int) -> None:
    if not all(0 <= fraction < 1 for fraction in fractions) or sum(fractions) >= 1:
        given = " and ".join(str(fraction) for fraction in fractions)
        raise SettingError(
            f"cannot set aside {given} of the facts",
            "Fractions are between 0 and 1, and some facts must remain in train.",
        )
    if seed < 0:
        raise SettingError(f"the seed is {seed}", "A seed is 0 or greater.")
    if len(table) <= len(fractions):
        raise SettingError(f"{len(table)} facts are too few to make {len(fractions) + 1} splits", "Give more facts.")


def _num_facts(fraction: float, size: int) -> int:
    """Round a fraction of ``size`` facts, but not to zero."""
    return max(1, math.floor(fraction * size + 0.5)) if fraction else 0


def _shuffle(numbers: Rows, seed: int) -> Rows:
    """Renumber the units in a random order.

    The order depends only on the seed and the order of the facts: units are sorted by the random word of their first
    fact, and the raw words of the generator are the same for every version of numpy.
    """
    words = np.random.PCG64(seed).random_raw(len(numbers))
    _, first, unit = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(words[first])
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place[unit]


def _covering_units(table: FactTable, unit: Rows) -> Rows:
    """Return the units that are the first with some entity or relation."""
    none = len(unit)
    firsts = []
    for ids in ([block.entities for block in table.blocks], [block.relations for block in table.blocks]):
        first = np.full(1 + max(int(block_ids.max()) for block_ids in ids), none)
        for block, block_ids in zip(table.blocks, ids, strict=True):
            np.minimum.at(first, block_ids, unit[block.rows][:, None])
        firsts.append(first[first < none])
    return np.unique(np.concatenate(firsts))


def _fill(part: Rows, number: int, sizes: Rows, remaining: int) -> None:
    """Assign free units to part ``number``, last first, skipping those larger than what remains to be filled.

    Last first, because units that are free although they come early have only frequent names: mostly small facts.
    """
    while len(free := np.flatnonzero((part < 0) & (sizes <= remaining))[::-1]):
        fitting = free[: np.searchsorted(np.cumsum(sizes[free]), remaining, side="right")]
        part[fitting] = number
        remaining -= int(sizes[fitting].sum())
