"""From a query to its answers: candidates with the confidences of all rules that name them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nary.facts import FactTable, Role, layout
from nary.models.rules.arrays import Index, Ints
from nary.models.rules.heads import join_anchors
from nary.models.rules.mining import Floats
from nary.models.rules.slots import Context, contexts, linked_anchors, single_anchors
from nary.models.rules.tables import Kind, RuleTables

_ATTRIBUTE_WEIGHT, _OVERALL_WEIGHT = 1e-3, 1e-4


Columns = tuple[int, ...]
_MOST = 1 - 1e-6
_SAY_THE_SAME: tuple[Kind, ...] = ("constant", "link", "chain")
"""Kinds of rules of which, from the same anchors, only the most confident counts."""


class Matches(NamedTuple):
    """Candidates of some queries: the query's row, the candidate, the confidence and the rule that names it.

    ``columns`` are those of the anchors, ``head`` is the number of the head. ``rule`` is a row of the table of that
    ``kind``. ``weight`` is how much the evidence counts.
    """

    kind: Kind
    columns: Columns
    head: Ints
    row: Ints
    candidate: Ints
    confidence: Floats
    rule: Ints
    weight: Floats

    @property
    def evidence(self) -> Tensor:
        """-log(1 - confidence), weighted."""
        return torch.from_numpy(-self.weight * np.log1p(-np.minimum(self.confidence, _MOST))).float()

    def places(self, width: int) -> Tensor:
        """Places in a matrix with ``width`` columns."""
        return torch.from_numpy(self.row * width + self.candidate)


@dataclass(frozen=True, eq=False)
class Ranges:
    """How often each candidate stands in each slot: ``answer`` and ``share`` [n] by slot."""

    index: Index
    answer: Ints
    share: Floats

    @classmethod
    def of(cls, slot: Ints, answer: Ints, prior: float) -> "Ranges":
        """Count."""
        order = np.lexsort((answer, slot))
        slot, answer = slot[order], answer[order]
        first = np.flatnonzero(np.concatenate([[True], (slot[1:] != slot[:-1]) | (answer[1:] != answer[:-1])]))
        count = np.diff(np.append(first, len(slot)))
        index = Index.of(slot[first])
        total = np.repeat(np.add.reduceat(count, index.starts[:-1]), index.counts)
        return cls(index, answer[first], count / (total + prior))


class Engine:
    """The facts and their rules, indexed, and the answers that they give."""

    def __init__(
        self,
        facts: FactTable,
        num_entities: int,
        num_relations: int,
        tables: RuleTables,
        weights: Mapping[Kind, Floats] | None = None,
    ) -> None:
        self.facts, self.tables, self.settings, self.weights = facts, tables, tables.settings, weights
        self.sizes = {"entity": num_entities, "relation": num_relations}
        base = tables.base
        self.slots, self.heads, self.edges, self.features = base.slots, base.heads, base.edges, base.features
        self.walker = base.walker
        self._count_ranges(facts)
        self._contexts = Index.of(tables.contexts.key.view(np.uint64))
        self._constants = Index.of(tables.rules["constant"].key)
        self._links = Index.of(tables.rules["link"].key)
        self._pairs = Index.of(tables.rules["pair"].key)
        chains = tables.rules["chain"].key
        self._steps, self._second_types = Index.of(chains // self.edges.num_types), chains % self.edges.num_types
        pair = self.edges.source * num_entities + self.edges.target
        self._pair_order = np.argsort(pair, kind="stable")
        self._edge_pairs = Index.of(pair[self._pair_order])

    def _count_ranges(self, facts: FactTable) -> None:
        slots: dict[str, list[Ints]] = {"entity": [], "relation": []}
        answers: dict[str, list[Ints]] = {"entity": [], "relation": []}
        for block in facts.blocks:
            ids = block.ids.astype(np.int64)
            for column, role in enumerate(block.roles):
                kind = "entity" if role.is_entity else "relation"
                slots[kind].append(self.slots.target(ids, column))
                answers[kind].append(ids[:, column])
                if role is Role.VALUE:  # the attribute of any relation
                    slots[kind].append(self.slots.code(role, -1, ids[:, column - block.qualifiers]))
                    answers[kind].append(ids[:, column])
        self.ranges = {
            kind: Ranges.of(np.concatenate(slots[kind]), np.concatenate(answers[kind]), self.settings.prior)
            for kind in slots
        }
        self.overall = {}
        for kind, size in self.sizes.items():
            counts = np.bincount(np.concatenate(answers[kind]), minlength=size) + 1
            self.overall[kind] = counts / counts.sum()

    def candidates(self, ids: Ints, masked: int) -> Iterator[Matches]:
        """The candidates that each kind of rule gives for facts ``ids`` [n, 2m+3] without column ``masked``."""
        m = layout.num_qualifiers(ids.shape[1])
        single, linked = set(single_anchors(m, masked)), set(linked_anchors(m, masked))
        entity = layout.position_at(masked, m).role.is_entity
        for context in contexts(self.slots, ids, masked):
            if not context.columns:
                continue
            head = self.heads.numbers(context.heads)
            yield self._same(context, head)
            if context.columns in single:
                anchor = ids[:, context.columns[0]]
                yield self._constant(context.columns, head, anchor)
                if entity:
                    yield self._link(context.columns, head, anchor)
                    yield self._chain(context.columns, head, anchor)
            if context.columns in linked:
                yield self._pair(context.columns, head, join_anchors(ids, context.columns, self.sizes["entity"]))

    def _same(self, context: Context, head: Ints) -> Matches:
        rows, owners = self._contexts.rows(context.keys)
        table = self.tables.contexts
        return self._matches("same", context.columns, head, owners, table.answer[rows], table.rule[rows])

    def _constant(self, columns: Columns, head: Ints, anchor: Ints) -> Matches:
        rows, owners = self.features.by_entity.rows(anchor)
        keys = np.where(head[owners] >= 0, head[owners] * len(self.features) + self.features.feature[rows], -1)
        rules, of = self._constants.rows(keys)
        return self._matches("constant", columns, head, owners[of], self.tables.rules["constant"].answer[rules], rules)

    def _link(self, columns: Columns, head: Ints, anchor: Ints) -> Matches:
        rows, owners = self.edges.by_source.rows(anchor)
        kept = (self.edges.degree[rows] <= self.settings.max_degree) & (head[owners] >= 0)
        rows, owners = rows[kept], owners[kept]
        rules = self._links.find(head[owners] * self.edges.num_types + self.edges.type[rows])
        kept = rules >= 0
        return self._matches("link", columns, head, owners[kept], self.edges.target[rows[kept]], rules[kept])

    def _chain(self, columns: Columns, head: Ints, anchor: Ints) -> Matches:
        paths, rules = self.walker.along(anchor, head, self._steps, self._second_types)
        return self._matches("chain", columns, head, paths.owner, self.edges.target[paths.second], rules)

    def _pair(self, columns: Columns, head: Ints, anchor: Ints) -> Matches:
        rows, owners = self._edge_pairs.rows(anchor)
        rows = self._pair_order[rows]
        keys = np.where(head[owners] >= 0, head[owners] * self.edges.num_types + self.edges.type[rows], -1)
        rules, of = self._pairs.rows(keys)
        return self._matches("pair", columns, head, owners[of], self.tables.rules["pair"].answer[rules], rules)

    def _matches(self, kind: Kind, columns: Columns, head: Ints, row: Ints, candidate: Ints, rule: Ints) -> Matches:
        of_row = np.ones(len(head)) if self.weights is None else self.weights[kind][head]
        confidence = self.tables.rules[kind].confidence[rule]
        return Matches(kind, columns, head[row], row, candidate, confidence, rule, of_row[row])

    def floor(self, ids: Ints, masked: int) -> tuple[Tensor, Ints]:
        """How likely each candidate is by its target slot alone, [U, C] for distinct slots, and the slot of each fact.

        That is its share in the slot, and a little of how often it occurs at all.
        """
        m = layout.num_qualifiers(ids.shape[1])
        role = layout.position_at(masked, m).role
        kind = "entity" if role.is_entity else "relation"
        slots, owners = np.unique(self.slots.target(ids, masked), return_inverse=True)
        rows = torch.from_numpy(_OVERALL_WEIGHT * self.overall[kind]).float().repeat(len(slots), 1)
        self._add_range(rows, slots, kind, 1.0)
        if role is Role.VALUE:
            attributes = [self.slots.decode(slot).attribute for slot in slots]
            self._add_range(rows, self.slots.code(role, -1, np.array(attributes)), kind, _ATTRIBUTE_WEIGHT)
        return rows.clamp_(max=_MOST), owners.ravel()

    def _add_range(self, rows: Tensor, slots: Ints, kind: str, weight: float) -> None:
        ranges = self.ranges[kind]
        places, of = ranges.index.rows(slots)
        at = torch.from_numpy(of * rows.shape[1] + ranges.answer[places])
        rows.view(-1).index_add_(0, at, torch.from_numpy(weight * ranges.share[places]).float())

    def score(self, ids: Ints, masked: int) -> Tensor:
        """The log-probability of every candidate [n, C], given that one of them is the answer.

        It is proportional to the odds p / (1 - p) of the p that the rules give, which tell even very likely candidates
        apart. Most candidates are named by no rule: their odds are those of their slot, and only others are computed.
        """
        floor, owners = self.floor(ids, masked)
        scores = floor.logit()[torch.from_numpy(owners)]
        width = scores.shape[1]
        parts = [candidates for candidates in self.candidates(ids, masked) if len(candidates.row)]
        if not parts:
            return scores.sub_(scores.logsumexp(1, keepdim=True))
        role = layout.position_at(masked, layout.num_qualifiers(ids.shape[1])).role
        # A fact has few attributes to choose from, so one sure rule tells more than many vague ones.
        join = _highest if role is Role.ATTRIBUTE else _noisy_or
        evidence = join(parts, torch.zeros(scores.numel()), width)
        for candidates in parts:
            at = candidates.places(width)
            base = floor.view(-1)[torch.from_numpy(owners[candidates.row] * width + candidates.candidate)]
            base = torch.log1p(-base).neg_()
            total = torch.maximum(evidence[at], base) if join is _highest else evidence[at] + base
            scores.view(-1)[at] = log_odds(total)  # equal for equal places
        return scores.sub_(scores.logsumexp(1, keepdim=True))


def log_odds(evidence: Tensor) -> Tensor:
    """log(p / (1 - p)) of a p with -log(1 - p) = ``evidence``."""
    return evidence + torch.expm1(-evidence).neg().log()


def _noisy_or(parts: list[Matches], evidence: Tensor, width: int) -> Tensor:
    """Add up the evidence of all kinds of rules and sets of anchors."""
    highest = torch.zeros_like(evidence)
    for candidates in parts:
        at = candidates.places(width)
        if candidates.kind in _SAY_THE_SAME:
            highest.scatter_reduce_(0, at, candidates.evidence, "amax")
            evidence[at] = evidence[at] + highest[at]  # equal for equal places
            highest[at] = 0
        else:  # names each candidate once, or nearly so
            evidence.index_add_(0, at, candidates.evidence)
    return evidence


def _highest(parts: list[Matches], evidence: Tensor, width: int) -> Tensor:
    """The most confident rule for each candidate."""
    for candidates in parts:
        evidence.scatter_reduce_(0, candidates.places(width), candidates.evidence, "amax")
    return evidence
