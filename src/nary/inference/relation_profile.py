"""How relations are used: how often, with which subjects, objects and attributes, and how well they are predicted."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from nary.evaluation.metrics import Metrics
from nary.evaluation.report import Report
from nary.facts import FactTable
from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, RELATION, SUBJECT, num_columns
from nary.facts.table import Ids, Rows
from nary.inference.lookup import FactLookup
from nary.inference.profile_results import NameCount, RelationCount, RelationCounts, RelationProfile, SlotCounts
from nary.inference.slots import Slots


class RelationProfiles:
    """The profiles of the relations of a dataset."""

    def __init__(self, lookup: FactLookup) -> None:
        self._lookup = lookup
        self._vocabulary = lookup.dataset.vocabulary

    @cached_property
    def _slots(self) -> Slots:
        """What stands in each slot of all stored facts."""
        sizes = len(self._vocabulary.entities), len(self._vocabulary.relations)
        return Slots(self._lookup.index.table, *sizes)

    def counts(self, limit: int = 20, offset: int = 0) -> RelationCounts:
        """The relations with the most facts first, then those that are attributes only."""
        relations = np.arange(len(self._vocabulary.relations))
        facts = self._slots.totals[self._slots.of(_rows(relations))[:, SUBJECT]]
        attributes = self._slots.totals[self._slots.of_values(relations)]
        order = np.lexsort((-attributes, -facts))[offset : offset + limit].tolist()
        names = self._vocabulary.relations
        return RelationCounts(
            len(names),
            [
                RelationCount(names[i], self._vocabulary.label(names[i]), int(facts[i]), int(attributes[i]))
                for i in order
            ],
        )

    def profile(self, relation: str, limit: int = 10, reports: Sequence[Report] = ()) -> RelationProfile:
        """The use of a relation, with the ``limit`` most frequent names of each slot."""
        i, slots = self._lookup.names.relation(relation), self._slots
        name = self._vocabulary.relations[i]
        of_relation = slots.of(_rows(np.array([i]), 1))[0]
        attributes = self._slot_counts(of_relation[FIRST_ATTRIBUTE], limit, self._vocabulary.relations)
        subjects, objects = (self._slot_counts(of_relation[column], limit) for column in (SUBJECT, OBJECT))
        splits = self._lookup.dataset.splits
        value_slot = int(slots.of_values(np.array(i)))
        return RelationProfile(
            name,
            self._vocabulary.label(name),
            {split: sum(_count(table, i).values()) for split, table in splits.items()},
            _count(self._lookup.index.table, i),
            subjects,
            objects,
            attributes,
            int(slots.totals[value_slot]),
            self._slot_counts(value_slot, limit),
            {report.split: metrics for report in reports if (metrics := _metrics(report, name))},
        )

    def _slot_counts(self, slot: int, limit: int, names: Sequence[str] | None = None) -> SlotCounts:
        names = names if names is not None else self._vocabulary.entities
        ids, counts = self._slots.members(slot)
        best = np.argsort(-counts, kind="stable")[:limit]
        most = [NameCount(names[i], self._vocabulary.label(names[i]), n) for i, n in _pairs(ids[best], counts[best])]
        return SlotCounts(len(ids), most)


def _rows(relations: Rows, num_qualifiers: int = 0) -> Ids:
    """Id rows with these relations, zeros elsewhere."""
    rows = np.zeros((len(relations), num_columns(num_qualifiers)), np.int32)
    rows[:, RELATION] = relations
    return rows


def _pairs(ids: Rows, counts: Rows) -> list[tuple[int, int]]:
    return list(zip(ids.tolist(), counts.tolist(), strict=True))


def _count(table: FactTable, relation: int) -> dict[int, int]:
    """The number of facts with a relation of each arity."""
    counts = {block.arity: int((block.ids[:, RELATION] == relation).sum()) for block in table.blocks}
    return {arity: count for arity, count in counts.items() if count}


def _metrics(report: Report, relation: str) -> Metrics:
    """The groups of a report for one relation, without that suffix."""
    suffix = f"[relation={relation}]"
    return {name.removesuffix(suffix): dict(one) for name, one in report.metrics.items() if name.endswith(suffix)}
