"""Reading rules: tables with names, and the rules and facts behind an answer."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from nary.facts import Fact, Role, Vocabulary, layout
from nary.models.rules.arrays import Ints
from nary.models.rules.same import BUCKETS, describe_bucket
from nary.models.rules.scoring import Engine, Matches
from nary.models.rules.slots import Slot
from nary.models.rules.tables import KINDS, Kind

Element = tuple[int, int]
"""A slot and what stands in it."""


@dataclass(frozen=True)
class Reason:
    """A rule that names an answer, and known facts that make it apply."""

    kind: Kind
    target: str
    body: str
    confidence: float
    support: int
    cases: int
    facts: tuple[Fact, ...]

    def __str__(self) -> str:
        known = "; ".join(map(str, self.facts)) or self.body
        return f"because {known} is known ({self.body}); holds in {self.confidence:.0%} of {self.cases:,} cases"


class RuleReader:
    """Writes the rules of an engine with the names of a vocabulary."""

    def __init__(self, engine: Engine, vocabulary: Vocabulary) -> None:
        self._engine, self._vocabulary = engine, vocabulary

    @property
    def table(self) -> pl.DataFrame:
        """All rules, the most confident first: kind, relation, target, body, answer, support, cases, confidence.

        ``relation`` is that of the target, or the answer where a relation is asked for.
        """
        frames = [self._frame(kind, np.arange(len(self._engine.tables.rules[kind]))) for kind in KINDS]
        return pl.concat(frames).sort("confidence", descending=True, maintain_order=True)

    def list_rules(self, relation: str | None = None, kind: Kind | None = None, limit: int = 20) -> pl.DataFrame:
        """The most confident rules, of one relation and of one kind if these are given."""
        frames = []
        for one in KINDS if kind is None else (kind,):
            rules = self._engine.tables.rules[one]
            rows = np.argsort(-rules.confidence, kind="stable")
            if relation is not None:
                rows = rows[self._concerns(one, self._vocabulary.relation(relation))[rows]]
            frames.append(self._frame(one, rows[:limit]))
        return pl.concat(frames).sort("confidence", descending=True, maintain_order=True).head(limit)

    def _concerns(self, kind: Kind, relation: int) -> npt.NDArray[np.bool_]:
        """Which rules of a kind answer a question about facts of ``relation``, or answer with it."""
        rules, slots = self._engine.tables.rules[kind], self._slots
        head = self._heads(kind, rules.key)
        of_target = np.array([slot.relation for slot in slots])[head] == relation
        return of_target | (np.array([slot.role is Role.RELATION for slot in slots])[head] & (rules.answer == relation))

    def explain(self, ids: Ints, masked: int, answer: int, limit: int = 3) -> list[Reason]:
        """Why ``answer`` is an answer to the fact ``ids`` [2m+3] without column ``masked``; best reasons first.

        Each reason comes with up to ``limit`` facts.
        """
        query = np.asarray(ids, np.int64)[None]
        reasons: dict[tuple[Kind, int], Reason] = {}
        for matches in self._engine.candidates(query, masked):
            for rule in np.unique(matches.rule[matches.candidate == answer]).tolist():
                reasons.setdefault((matches.kind, rule), self._reason(matches, rule, query, masked, answer, limit))
        return sorted(reasons.values(), key=lambda reason: -reason.confidence)

    def _reason(self, matches: Matches, rule: int, query: Ints, masked: int, answer: int, limit: int) -> Reason:
        rules = self._engine.tables.rules[matches.kind]
        heads, bodies = self._texts(matches.kind, np.array([rule]))
        facts = self._facts(self._elements(matches, rule, query, masked, answer), limit)
        counts = int(rules.support[rule]), int(rules.body[rule])
        return Reason(matches.kind, heads[0], bodies[0], float(rules.confidence[rule]), *counts, tuple(facts))

    def _elements(
        self, matches: Matches, rule: int, query: Ints, masked: int, answer: int
    ) -> Iterable[tuple[Element, ...]]:
        """The elements that supporting facts have; several sets for several facts."""
        engine, columns = self._engine, matches.columns
        key = int(engine.tables.rules[matches.kind].key[rule])
        anchors = [int(query[0, column]) for column in columns]
        types, edges = engine.edges.types, engine.edges
        if matches.kind == "same":
            known = [(int(engine.slots.anchor(query, column, masked)[0]), int(query[0, column])) for column in columns]
            return [((int(engine.slots.target(query, masked)[0]), answer), *known)]
        if matches.kind == "constant":
            feature = key % len(engine.features)
            type_, target = int(engine.features.type[feature]), int(engine.features.target[feature])
            if target < 0:
                return [((int(engine.features.slots[type_]), anchors[0]),)]
            return [((int(types[type_, 0]), anchors[0]), (int(types[type_, 1]), target))]
        if matches.kind == "chain":
            first, second = divmod(key % edges.num_types**2, edges.num_types)
            starts = edges.target[(edges.source == anchors[0]) & (edges.type == first)]
            ends = edges.source[(edges.target == answer) & (edges.type == second)]
            middle = int(np.intersect1d(starts, ends)[0])
            steps = ((first, anchors[0], middle), (second, middle, answer))
            return [((int(types[t, 0]), a), (int(types[t, 1]), b)) for t, a, b in steps]
        type_ = key % edges.num_types
        other = answer if matches.kind == "link" else anchors[1]
        return [((int(types[type_, 0]), anchors[0]), (int(types[type_, 1]), other))]

    def _facts(self, wanted: Iterable[tuple[Element, ...]], limit: int) -> list[Fact]:
        facts = []
        for elements in wanted:
            rows = [
                row
                for block in self._engine.facts.blocks
                for row in self._rows_with(block.ids.astype(np.int64), elements)
            ]
            facts += [self._fact(row) for row in rows[:limit]]
        return facts

    def _rows_with(self, ids: Ints, elements: tuple[Element, ...]) -> Ints:
        """The rows of ``ids`` [n, 2m+3] that have all ``elements`` in their slots."""
        m = layout.num_qualifiers(ids.shape[1])
        for code, element in elements:
            slot = self._engine.slots.decode(code)
            fits = np.zeros(len(ids), bool)
            for column, role in enumerate(layout.roles(m)):
                if role is slot.role:
                    same = ids[:, column] == element
                    if slot.attribute >= 0:
                        same &= ids[:, column - m] == slot.attribute
                    fits |= same
            if slot.relation >= 0:
                fits &= ids[:, layout.RELATION] == slot.relation
            ids = ids[fits]
        return ids

    def _fact(self, row: Ints) -> Fact:
        entities, relations, m = self._vocabulary.entities, self._vocabulary.relations, layout.num_qualifiers(len(row))
        pairs = [
            (relations[row[a]], entities[row[v]])
            for a, v in zip(layout.attribute_columns(m), layout.value_columns(m), strict=True)
        ]
        subject, relation, object_ = row[layout.SUBJECT], row[layout.RELATION], row[layout.OBJECT]
        return Fact(entities[subject], relations[relation], entities[object_], pairs)

    def _frame(self, kind: Kind, rows: Ints) -> pl.DataFrame:
        rules = self._engine.tables.rules[kind].take(rows)
        head = self._heads(kind, rules.key)
        names, slots = self._vocabulary, self._slots
        is_entity = np.array([slot.role.is_entity for slot in slots], bool)[head]
        place = np.where(is_entity, rules.answer, len(names.entities) + rules.answer)
        answers = pl.Series([*names.entities, *names.relations], dtype=pl.String)
        targets, bodies = self._texts(kind, rows)
        relations = [names.relations[slot.relation] if slot.relation >= 0 else None for slot in slots]
        return pl.DataFrame(
            {
                "kind": pl.repeat(kind, len(rules), eager=True),
                "relation": pl.Series(relations, dtype=pl.String).gather(head),
                "target": targets,
                "body": bodies,
                "answer": answers.gather(pl.Series(np.maximum(place, 0))),
                "support": rules.support,
                "cases": rules.body,
                "confidence": rules.confidence,
                "constant": rules.answer >= 0,
            }
        ).select(
            "kind",
            relation=pl.coalesce("relation", pl.when("constant").then("answer")),
            target="target",
            body="body",
            answer=pl.when("constant").then("answer"),
            support="support",
            cases="cases",
            confidence="confidence",
        )

    @cached_property
    def _slots(self) -> list[Slot]:
        """The target slot of each head."""
        return [self._engine.slots.decode(code) for code in self._engine.heads.slots[:, 0].tolist()]

    def _width(self, kind: Kind) -> int:
        """Keys of rules are ``head * width + body``."""
        types = self._engine.edges.num_types
        widths = {"same": BUCKETS, "constant": len(self._engine.features), "chain": types**2}
        return max(widths.get(kind, types), 1)

    def _heads(self, kind: Kind, key: Ints) -> Ints:
        """The head of each rule."""
        return key // self._width(kind)

    def _texts(self, kind: Kind, rows: Ints) -> tuple[pl.Series, pl.Series]:
        """Target and body of some rules, in words."""
        heads, bodies = np.divmod(self._engine.tables.rules[kind].key[rows], self._width(kind))
        targets = _in_words(self._engine.heads.slots[heads, 0], self._slot)
        return targets, _in_words(heads, self._given) + _in_words(bodies, lambda body: self._body(kind, body))

    def _given(self, head: int) -> str:
        anchors = [self._slot(code) for code in self._engine.heads.slots[head, 1:].tolist() if code >= 0]
        return f"given {' and '.join(anchors)}: "

    def _body(self, kind: Kind, body: int) -> str:
        types, features = self._engine.edges.num_types, self._engine.features
        if kind == "same":
            return f"{describe_bucket(body)} with the same"
        if kind == "constant":
            if features.target[body] < 0:
                return f"it is also {self._slot(int(features.slots[features.type[body]]))}"
            return f"{self._type(int(features.type[body]))} = {self._vocabulary.entities[features.target[body]]}"
        if kind == "chain":
            return f"{self._type(body // types)}, then {self._type(body % types)}"
        return self._type(body)

    def _type(self, type_: int) -> str:
        first, second = self._engine.edges.types[type_]
        return f"{self._slot(int(first))} -> {self._slot(int(second))}"

    def _slot(self, code: int) -> str:
        relation, role, attribute = self._engine.slots.decode(code)
        names = self._vocabulary.relations
        parts = [role.value]
        if attribute >= 0:
            parts.append(f"of {names[attribute]}")
        if relation >= 0:
            parts.append(f"in {names[relation]}" if role in (Role.VALUE, Role.ATTRIBUTE) else f"of {names[relation]}")
        return " ".join(parts)


def _in_words(numbers: Ints, write: Callable[[int], str]) -> pl.Series:
    """Each of ``numbers`` in words; equal numbers are written once."""
    distinct, places = np.unique(numbers, return_inverse=True)
    return pl.Series([write(number) for number in distinct.tolist()], dtype=pl.String).gather(places.ravel())
