"""Heads: what a rule may conclude. The target slot, and the slots of the anchors it is concluded from."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nary.facts import FactTable
from nary.models.rules.arrays import Index, Ints
from nary.models.rules.edges import unique_with_fact
from nary.models.rules.slots import Keys, Slots, contexts

Anchors = Callable[[int, int], list[tuple[int, ...]]]
"""Sets of anchor columns, for a number of qualifiers and a masked column."""


@dataclass(frozen=True, eq=False)
class Heads:
    """All heads of the training facts, by head key; ``slots`` [H, k] holds the target slot, then those of the anchors.

    Missing anchors are -1.
    """

    index: Index
    slots: Ints
    num_entities: int

    def __len__(self) -> int:
        return len(self.slots)

    def numbers(self, keys: Keys) -> Ints:
        """The number of each head, or -1."""
        return self.index.find(keys)


@dataclass(frozen=True, eq=False)
class Instances:
    """Anchors and answers of the training facts: which ``answer`` stands in the target slot beside which anchor.

    Distinct and sorted by head, anchor and answer; ``fact`` is the row of the only fact that says so, or ``MANY``.
    An anchor is an entity, or for two anchors ``first * E + second``.
    """

    head: Ints
    anchor: Ints
    answer: Ints
    fact: Ints

    def take(self, rows: Ints) -> "Instances":
        """The instances at ``rows``."""
        return Instances(self.head[rows], self.anchor[rows], self.answer[rows], self.fact[rows])


def distinct(head: Ints, anchor: Ints, answer: Ints, fact: Ints) -> Instances:
    """Merge instances that differ in nothing but the fact."""
    _, anchor_number = anchors = np.unique(anchor, return_inverse=True)
    width, span = len(anchors[0]), int(answer.max(initial=0)) + 1
    keys, fact = unique_with_fact((head * width + anchor_number) * span + answer, fact)
    pairs, answer = np.divmod(keys, span)
    head, number = np.divmod(pairs, width)
    return Instances(head, anchors[0][number], answer, fact)


def find_heads(facts: FactTable, slots: Slots, num_entities: int) -> Heads:
    """The heads of all ``facts``."""
    keys: list[Keys] = []
    described: list[Ints] = []
    widest = 1
    for block in facts.blocks:
        ids = block.ids.astype(np.int64)
        for masked in range(ids.shape[1]):
            target = slots.target(ids, masked)
            for context in contexts(slots, ids, masked):
                distinct_keys, first = np.unique(context.heads, return_index=True)
                anchors = [slots.anchor(ids[first], column, masked) for column in context.columns]
                keys.append(distinct_keys)
                described.append(np.stack([target[first], *anchors], axis=1))
                widest = max(widest, 1 + len(anchors))
    all_keys = np.concatenate([np.empty(0, np.uint64), *keys])
    padded = [np.pad(part, ((0, 0), (0, widest - part.shape[1])), constant_values=-1) for part in described]
    unique_keys, first = np.unique(all_keys, return_index=True)
    table = np.concatenate([np.empty((0, widest), np.int64), *padded])[first]
    table[:, 1:] = np.sort(table[:, 1:], axis=1)[:, ::-1]  # any order of equal sets, -1 last
    return Heads(Index(unique_keys, np.arange(len(unique_keys) + 1)), table, num_entities)


def collect(facts: FactTable, slots: Slots, heads: Heads, anchors: Anchors, *, entities: bool) -> Instances:
    """The instances of all facts whose target is an entity, or a relation; ``anchors`` gives the sets of anchors."""
    parts = []
    for block in facts.blocks:
        ids = block.ids.astype(np.int64)
        for masked in block.entity_columns if entities else block.relation_columns:
            wanted = set(anchors(block.qualifiers, masked))
            for context in contexts(slots, ids, masked):
                if context.columns in wanted:
                    anchor = join_anchors(ids, context.columns, heads.num_entities)
                    parts.append((heads.numbers(context.heads), anchor, ids[:, masked], block.rows))
    empty = (np.empty(0, np.int64),) * 4
    return distinct(*(np.concatenate(column) for column in zip(empty, *parts, strict=True)))


def join_anchors(ids: Ints, columns: tuple[int, ...], num_entities: int) -> Ints:
    """One integer for the one or two anchors of each fact."""
    first = ids[:, columns[0]]
    return first if len(columns) == 1 else first * num_entities + ids[:, columns[1]]
