"""Reading rules: tables with names, and the rules and facts behind an answer."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from nary.facts import Fact, Role, Vocabulary, layout
from nary.facts.table import decode_fact
from nary.models.rules.arrays import Ints
from nary.models.rules.evidence import evidence
from nary.models.rules.scoring import Engine, Matches
from nary.models.rules.tables import KINDS, Kind
from nary.models.rules.words import RuleWords
from nary.wording import counted

_TRIED = 200
"""How many facts are looked at for an example of a rule."""


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
        known = "; ".join(map(str, self.facts))
        share = self.support / max(1, self.cases)
        return f"because {known} is known ({self.body}); holds in {share:.0%} of {counted(self.cases, 'case')}"


@dataclass(frozen=True)
class Example:
    """A training fact with an element that a rule names, and the other facts from which it follows."""

    fact: Fact
    because: tuple[Fact, ...]


class RuleReader:
    """Writes the rules of an engine with the names of a vocabulary."""

    def __init__(self, engine: Engine, vocabulary: Vocabulary) -> None:
        self._engine, self._vocabulary = engine, vocabulary
        self._words = RuleWords(engine, vocabulary)

    @property
    def table(self) -> pl.DataFrame:
        """All rules, the most confident first: kind, relation, target, body, answer, support, cases, confidence.

        ``relation`` is that of the target, or the answer where a relation is asked for.
        """
        frames = [self._frame(kind, np.arange(len(self._engine.tables.rules[kind]))) for kind in KINDS]
        return pl.concat(frames).sort("confidence", descending=True, maintain_order=True).drop("row")

    def list_rules(
        self, relation: str | None = None, kind: Kind | None = None, role: Role | None = None, limit: int = 20
    ) -> pl.DataFrame:
        """The most confident rules, of one relation, of one kind and for one role if these are given.

        ``row`` is the number of the rule among those of its kind, for :meth:`example`.
        """
        frames = []
        for one in KINDS if kind is None else (kind,):
            rules = self._engine.tables.rules[one]
            rows = np.argsort(-rules.confidence, kind="stable")
            if relation is not None:
                rows = rows[self._concerns(one, self._vocabulary.relation(relation))[rows]]
            if role is not None:
                is_target = np.array([slot.role is role for slot in self._words.targets], bool)
                rows = rows[is_target[self._words.heads(one, rows)]]
            frames.append(self._frame(one, rows[:limit]))
        return pl.concat(frames).sort("confidence", descending=True, maintain_order=True).head(limit)

    def explain(self, ids: Ints, masked: int, answer: int, rules: int = 5, facts: int = 3) -> list[Reason]:
        """Why ``answer`` is an answer to the fact ``ids`` [2m+3] without column ``masked``; best reasons first.

        At most so many ``rules``, each with up to so many ``facts`` for each of its steps. A rule that applies only
        because the whole fact is known is no reason.
        """
        query = np.asarray(ids, np.int64)[None]
        applying: dict[tuple[Kind, int], Matches] = {}
        for matches in self._engine.candidates(query, masked):
            for rule in np.unique(matches.rule[matches.candidate == answer]).tolist():
                applying.setdefault((matches.kind, rule), matches)
        confidence = {one: float(self._engine.tables.rules[one[0]].confidence[one[1]]) for one in applying}
        reasons: list[Reason] = []
        for kind, rule in sorted(applying, key=lambda one: -confidence[one]):
            rows = evidence(self._engine, applying[kind, rule], rule, query, masked, answer, facts)
            if rows:
                reasons.append(self._reason(kind, rule, tuple(self._fact(row) for row in rows)))
            if len(reasons) == rules:
                break
        return reasons

    def example(self, kind: Kind, row: int) -> Example | None:
        """A training fact that a rule is right about; None if none is among the first facts with its target."""
        rules = self._engine.tables.rules[kind]
        target = self._words.targets[int(self._words.heads(kind, np.array([row]))[0])]
        for block in self._engine.facts.blocks:
            for masked, role in enumerate(block.roles):
                if role is not target.role:
                    continue
                ids = block.ids.astype(np.int64)
                if target.relation >= 0:
                    ids = ids[ids[:, layout.RELATION] == target.relation]
                elif rules.answer[row] >= 0:
                    ids = ids[ids[:, masked] == rules.answer[row]]
                for query in ids[:_TRIED]:
                    if facts := self._because(kind, row, query, masked):
                        return Example(self._fact(tuple(query.tolist())), facts)
        return None

    def _because(self, kind: Kind, row: int, query: Ints, masked: int) -> tuple[Fact, ...]:
        """The facts from which a rule derives the element in a column of a fact; none if it does not."""
        answer = int(query[masked])
        for matches in self._engine.candidates(query[None], masked):
            if matches.kind == kind and ((matches.rule == row) & (matches.candidate == answer)).any():
                rows = evidence(self._engine, matches, row, query[None], masked, answer, 1)
                if rows:
                    return tuple(self._fact(one) for one in rows)
        return ()

    def _concerns(self, kind: Kind, relation: int) -> npt.NDArray[np.bool_]:
        """Which rules of a kind answer a question about facts of ``relation``, or answer with it."""
        rules, targets = self._engine.tables.rules[kind], self._words.targets
        head = self._words.heads(kind, np.arange(len(rules)))
        of_target = np.array([slot.relation for slot in targets])[head] == relation
        asks_relation = np.array([slot.role is Role.RELATION for slot in targets])[head]
        return of_target | (asks_relation & (rules.answer == relation))

    def _reason(self, kind: Kind, rule: int, facts: tuple[Fact, ...]) -> Reason:
        rules = self._engine.tables.rules[kind]
        targets, bodies = self._words.texts(kind, np.array([rule]))
        counts = int(rules.support[rule]), int(rules.body[rule])
        return Reason(kind, targets[0], bodies[0], float(rules.confidence[rule]), *counts, facts)

    def _fact(self, row: tuple[int, ...]) -> Fact:
        return decode_fact(row, self._vocabulary)

    def _frame(self, kind: Kind, rows: Ints) -> pl.DataFrame:
        rules = self._engine.tables.rules[kind].take(rows)
        head = self._words.heads(kind, rows)
        names, slots = self._vocabulary, self._words.targets
        is_entity = np.array([slot.role.is_entity for slot in slots], bool)[head]
        place = np.where(is_entity, rules.answer, len(names.entities) + rules.answer)
        answers = pl.Series([*names.entities, *names.relations], dtype=pl.String)
        targets, bodies = self._words.texts(kind, rows)
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
                "row": rows,
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
            row="row",
        )
