"""Rules in words, with the names of a vocabulary."""

from collections.abc import Callable
from functools import cached_property

import numpy as np
import polars as pl

from nary.facts import Role, Vocabulary
from nary.models.rules.arrays import Ints
from nary.models.rules.same import BUCKETS, describe_bucket
from nary.models.rules.scoring import Engine
from nary.models.rules.slots import Slot
from nary.models.rules.tables import Kind


class RuleWords:
    """Writes the rules of an engine."""

    def __init__(self, engine: Engine, vocabulary: Vocabulary) -> None:
        self.engine, self.vocabulary = engine, vocabulary

    @cached_property
    def targets(self) -> list[Slot]:
        """The target slot of each head."""
        return [self.engine.slots.decode(code) for code in self.engine.heads.slots[:, 0].tolist()]

    def heads(self, kind: Kind, rows: Ints) -> Ints:
        """The heads of some rules."""
        return self.engine.tables.rules[kind].key[rows] // self._width(kind)

    def texts(self, kind: Kind, rows: Ints) -> tuple[pl.Series, pl.Series]:
        """Target and body of some rules."""
        heads, bodies = np.divmod(self.engine.tables.rules[kind].key[rows], self._width(kind))
        targets = _in_words(self.engine.heads.slots[heads, 0], self._slot)
        return targets, _in_words(heads, self._given) + _in_words(bodies, lambda body: self._body(kind, body))

    def _width(self, kind: Kind) -> int:
        """Keys of rules are ``head * width + body``."""
        types = self.engine.edges.num_types
        widths = {"same": BUCKETS, "constant": len(self.engine.features), "chain": types**2}
        return max(widths.get(kind, types), 1)

    def _given(self, head: int) -> str:
        anchors = [self._slot(code) for code in self.engine.heads.slots[head, 1:].tolist() if code >= 0]
        return f"given {' and '.join(anchors)}: "

    def _body(self, kind: Kind, body: int) -> str:
        types = self.engine.edges.num_types
        if kind == "same":
            return f"{describe_bucket(body)} with the same"
        if kind == "constant":
            return self._feature(body)
        if kind == "chain":
            return f"{self._type(body // types)}, then {self._type(body % types)}"
        return self._type(body)

    def _feature(self, feature: int) -> str:
        features = self.engine.features
        first, second = features.parts[feature].tolist()
        if first >= 0:
            return f"{self._feature(first)} and {self._feature(second)} in one fact"
        if features.target[feature] < 0:
            return f"it is also {self._slot(int(features.slots[features.type[feature]]))}"
        return f"{self._type(int(features.type[feature]))} = {self.vocabulary.entities[features.target[feature]]}"

    def _type(self, type_: int) -> str:
        first, second = self.engine.edges.types[type_]
        return f"{self._slot(int(first))} -> {self._slot(int(second))}"

    def _slot(self, code: int) -> str:
        relation, role, attribute = self.engine.slots.decode(code)
        names = self.vocabulary.relations
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
