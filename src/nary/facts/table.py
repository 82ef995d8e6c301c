"""FactTable: many facts as integers, grouped by arity, without padding.

Facts with ``m`` qualifiers are one block of id rows, laid out as in :mod:`nary.facts.layout`. Qualifiers are sorted by
attribute and value, so equal facts are equal rows. ``rows`` keeps the original position of each fact.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from nary.facts import layout
from nary.facts.fact import Fact, Role
from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, RELATION, SUBJECT
from nary.facts.vocabulary import Vocabulary

Ids = npt.NDArray[np.int32]
Rows = npt.NDArray[np.int64]
_PART = 1 << 16  # facts at a time, where Python lists or copies of a large table would take much memory
_T = TypeVar("_T")
_Decoded = tuple[_T, _T, _T, list[tuple[_T, _T]]]
"""Subject, relation, object and qualifiers of a fact."""


@dataclass(frozen=True, eq=False)
class Block:
    """All facts of one arity: ``ids`` [n, 2m+3] and their places ``rows`` [n], ascending."""

    ids: Ids
    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Block({len(self):,} facts of arity {self.arity})"

    @property
    def qualifiers(self) -> int:
        """The number of qualifiers, ``m``."""
        return layout.num_qualifiers(int(self.ids.shape[1]))

    @property
    def arity(self) -> int:
        """2 + the number of qualifiers."""
        return 2 + self.qualifiers

    @property
    def attributes(self) -> Ids:
        """[n, m]"""
        return self.ids[:, FIRST_ATTRIBUTE : layout.first_value(self.qualifiers)]

    @property
    def values(self) -> Ids:
        """[n, m]"""
        return self.ids[:, layout.first_value(self.qualifiers) :]

    @property
    def relations(self) -> Ids:
        """Every relation id of each fact: the relation and the attributes, [n, 1+m]."""
        return self.ids[:, self.relation_columns]

    @property
    def entities(self) -> Ids:
        """Every entity id of each fact: subject, object and values, [n, 2+m]."""
        return self.ids[:, self.entity_columns]

    @property
    def roles(self) -> list[Role]:
        """The role of the elements in each column."""
        return layout.roles(self.qualifiers)

    @property
    def relation_columns(self) -> list[int]:
        """The columns that hold relations."""
        return layout.relation_columns(self.qualifiers)

    @property
    def entity_columns(self) -> list[int]:
        """The columns that hold entities."""
        return layout.entity_columns(self.qualifiers)


class FactTable:
    """Facts as integers, one :class:`Block` per arity, lowest arity first."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = tuple(sorted((block for block in blocks if len(block)), key=lambda block: block.arity))

    @classmethod
    def from_columns(
        cls, heads: Ids, counts: npt.NDArray[np.integer], pairs: Ids, order: Rows | None = None
    ) -> "FactTable":
        """Build from columns of ids.

        ``heads`` [n, 3] holds relation, subject, object; ``counts`` [n] the number of qualifiers of each fact;
        ``pairs`` [sum(counts), 2] the attribute and value of all qualifiers, fact after fact. ``order`` [n] sorts the
        facts, which otherwise stay as they stand.
        """
        starts = np.cumsum(counts) - counts
        blocks = []
        for m in np.unique(counts):
            rows = np.flatnonzero(counts == m)
            qualifiers = pairs[starts[rows][:, None] + np.arange(m)]  # [n, m, 2]
            blocks.append(Block(_with_qualifiers(heads[rows], qualifiers[..., 0], qualifiers[..., 1]), rows))
        if order is not None and (order[1:] < order[:-1]).any():
            blocks = _reorder(blocks, order)
        return cls(blocks)

    @classmethod
    def from_facts(cls, facts: Sequence[Fact], vocabulary: Vocabulary) -> "FactTable":
        """Encode facts; an unknown name is an error that lists the nearest ones."""
        entity, relation = vocabulary.entity, vocabulary.relation
        heads = [(relation(fact.relation), entity(fact.subject), entity(fact.object)) for fact in facts]
        pairs = [(relation(attribute), entity(value)) for fact in facts for attribute, value in fact.qualifiers]
        counts = np.array([len(fact.qualifiers) for fact in facts], np.int64)
        return cls.from_columns(
            np.array(heads, np.int32).reshape(-1, 3), counts, np.array(pairs, np.int32).reshape(-1, 2)
        )

    @classmethod
    def concatenate(cls, tables: Sequence["FactTable"]) -> "FactTable":
        """All facts of ``tables``, one table after the other; if only one has any, that one itself."""
        tables = [table for table in tables if len(table)]
        if len(tables) == 1:
            return tables[0]
        offsets = np.cumsum([0, *(len(table) for table in tables)])
        parts: dict[int, list[Block]] = {}
        for table, offset in zip(tables, offsets, strict=False):
            for block in table.blocks:
                parts.setdefault(block.arity, []).append(Block(block.ids, block.rows + offset))
        return cls(
            [
                Block(np.concatenate([block.ids for block in blocks]), np.concatenate([block.rows for block in blocks]))
                for blocks in parts.values()
            ]
        )

    def __len__(self) -> int:
        return sum(len(block) for block in self.blocks)

    def __eq__(self, other: object) -> bool:
        """Equal facts in equal order."""
        if not isinstance(other, FactTable) or len(self.blocks) != len(other.blocks):
            return NotImplemented if not isinstance(other, FactTable) else False
        return all(
            np.array_equal(mine.ids, theirs.ids) and np.array_equal(mine.rows, theirs.rows)
            for mine, theirs in zip(self.blocks, other.blocks, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"FactTable({len(self):,} facts, arities {list(self.arities)})"

    def __iter__(self) -> Iterator[_Decoded[int]]:
        """The ids of subject, relation, object and qualifiers of each fact, in the order they came in."""
        ids = range(2**31)  # where a name would be looked up, an id stands for itself
        return self.decode(ids, ids)

    @property
    def arities(self) -> dict[int, int]:
        """The number of facts of each arity."""
        return {block.arity: len(block) for block in self.blocks}

    def take(self, rows: npt.NDArray[np.integer]) -> "FactTable":
        """The facts at places ``rows``, in their old order."""
        chosen = np.zeros(len(self), bool)
        chosen[rows] = True
        places = np.cumsum(chosen) - 1
        return FactTable(
            [
                Block(block.ids[kept], places[block.rows[kept]])
                for block in self.blocks
                for kept in [np.flatnonzero(chosen[block.rows])]
            ]
        )

    def blocks_between(self, start: int, end: int) -> list[Block]:
        """The facts at places ``start`` to ``end``, which they keep; not copied."""
        parts = []
        for block in self.blocks:
            first, last = np.searchsorted(block.rows, [start, end])
            parts.append(Block(block.ids[first:last], block.rows[first:last]))
        return [part for part in parts if len(part)]

    def renumbered(self, entity_ids: npt.NDArray[np.integer], relation_ids: npt.NDArray[np.integer]) -> "FactTable":
        """The same facts under other ids: ``entity_ids`` and ``relation_ids`` give the new id of each old one."""
        blocks = []
        for block in self.blocks:
            heads = np.empty((len(block), FIRST_ATTRIBUTE), np.int32)
            heads[:, RELATION] = relation_ids[block.ids[:, RELATION]]
            heads[:, SUBJECT : OBJECT + 1] = entity_ids[block.ids[:, SUBJECT : OBJECT + 1]]
            ids = _with_qualifiers(heads, relation_ids[block.attributes], entity_ids[block.values])
            blocks.append(Block(ids, block.rows))
        return FactTable(blocks)

    def facts(self, vocabulary: Vocabulary) -> Iterator[Fact]:
        """The facts by name, in the order they came in."""
        for fact in self.decode(vocabulary.entities, vocabulary.relations):
            yield Fact(*fact)

    def decode(self, entities: Sequence[_T], relations: Sequence[_T]) -> Iterator[_Decoded[_T]]:
        """Plain (subject, relation, object, qualifiers) tuples, in the order the facts came in."""
        block_of = np.empty(len(self), np.int32)
        row_of = np.empty(len(self), np.int64)
        for number, block in enumerate(self.blocks):
            block_of[block.rows] = number
            row_of[block.rows] = np.arange(len(block))
        for start in range(0, len(self), _PART):
            numbers, places = block_of[start : start + _PART], row_of[start : start + _PART]
            cursors = []
            for number, block in enumerate(self.blocks):
                cursors.append(iter(block.ids[places[numbers == number]].tolist()))
            for number in numbers.tolist():
                yield _decode_row(next(cursors[number]), entities, relations)

    @cached_property
    def fingerprint(self) -> str:
        """Equal for equal tables, whatever file they came from."""
        digest = hashlib.sha256()
        for block in self.blocks:
            digest.update(f"{block.ids.shape}".encode())
            for array, kind in ((block.ids, "<i4"), (block.rows, "<i8")):
                for start in range(0, len(array), _PART):
                    digest.update(array[start : start + _PART].astype(kind).tobytes())
        return digest.hexdigest()


def decode_fact(ids: Sequence[int], vocabulary: Vocabulary) -> Fact:
    """The fact of an id row [2m+3]; its qualifiers may be in any order."""
    return Fact(*_decode_row(ids, vocabulary.entities, vocabulary.relations))


def _decode_row(ids: Sequence[int], entities: Sequence[_T], relations: Sequence[_T]) -> _Decoded[_T]:
    first_value = layout.first_value(layout.num_qualifiers(len(ids)))
    attributes = [relations[i] for i in ids[FIRST_ATTRIBUTE:first_value]]
    pairs = list(zip(attributes, [entities[i] for i in ids[first_value:]], strict=True))
    return entities[ids[SUBJECT]], relations[ids[RELATION]], entities[ids[OBJECT]], pairs


def _with_qualifiers(heads: Ids, attributes: npt.NDArray[np.integer], values: npt.NDArray[np.integer]) -> Ids:
    """Id rows [n, 2m+3] of ``heads`` [n, 3] and qualifiers [n, m], which are sorted."""
    m = attributes.shape[1]
    keys = (attributes.astype(np.int64) << 32) | values  # sort like attribute, then value
    keys.sort(axis=1)
    ids = np.empty((len(heads), layout.num_columns(m)), np.int32)
    ids[:, :FIRST_ATTRIBUTE] = heads
    ids[:, FIRST_ATTRIBUTE : layout.first_value(m)] = keys >> 32
    ids[:, layout.first_value(m) :] = keys & 0xFFFFFFFF
    return ids


def _reorder(blocks: list[Block], order: Rows) -> list[Block]:
    """Number the facts by ``order`` [n] instead of as they stand."""
    places = np.empty(order.size, np.int64)
    places[np.argsort(order, kind="stable")] = np.arange(order.size)
    moved = []
    for block in blocks:
        rows = places[block.rows]
        by_row = np.argsort(rows)
        moved.append(Block(block.ids[by_row], rows[by_row]))
    return moved


def number_rows(arrays: Sequence[Ids]) -> tuple[Rows, ...]:
    """Number distinct rows over all ``arrays`` (of equal width): equal rows get equal numbers."""
    _, numbers = np.unique(packed_rows(np.concatenate(arrays)), return_inverse=True)
    return tuple(np.split(numbers.ravel(), np.cumsum([len(array) for array in arrays])[:-1]))


def packed_rows(rows: npt.NDArray[np.integer]) -> npt.NDArray[np.void]:
    """Each row [n, w] as one item [n] that can be sorted and searched for."""
    return np.ascontiguousarray(rows).view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).reshape(len(rows))
