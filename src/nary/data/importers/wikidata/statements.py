"""The statements of one Wikidata entity as facts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nary.data.importers.wikidata.settings import WikidataSettings
from nary.data.importers.wikidata.snaks import SnakReader
from nary.data.io.lines import Record
from nary.errors import DataError

_INSTANCE_OF = "P31"
_COUNTED = ("entities read", "entities kept", "statements", "facts", "qualifiers")
_FIRST = 1000  # statements among which some have qualifiers, unless the dump has none

NO_QUALIFIERS = (
    'A "truthy" dump has only the best value of every statement: qualifiers, ranks and references are missing. Get the '
    "complete JSON dump, latest-all.json.gz or .bz2."
)


class TruthyDumpError(DataError):
    """A dump has no qualifiers."""


class StatementReader:
    """Turns entities into facts, and counts what it reads and what it leaves out."""

    def __init__(self, settings: WikidataSettings) -> None:
        self.counts: Counter[str] = Counter(dict.fromkeys(_COUNTED, 0))
        self._settings = settings
        self._snaks = SnakReader(settings.datatypes, settings.keep_missing)
        self._properties, self._classes, self._ids = (
            frozenset(each) for each in (settings.properties, settings.classes, settings.ids)
        )
        self._seen, self._seen_qualifiers = 0, settings.without_qualifiers

    @property
    def left_out(self) -> Counter[str]:
        """How many statements, qualifiers and other parts are left out, by the reason."""
        return self._snaks.left_out

    def label(self, entity: Mapping[str, Any]) -> str:
        """Return the label in the first of the languages that has one, without tabs and line ends; empty if none has.

        A lexeme has lemmas for labels.
        """
        texts = entity.get("labels") or entity.get("lemmas") or {}
        for language in self._settings.languages:
            if language in texts:
                return " ".join(texts[language]["value"].split())
        return ""

    def types(self, entity: Mapping[str, Any]) -> list[str]:
        """Return the classes that the entity is an instance of."""
        statements = _claims(entity).get(_INSTANCE_OF, ())
        names = []
        for statement in statements:
            if _rank(statement) != "deprecated" and statement["mainsnak"]["snaktype"] == "value":
                value = statement["mainsnak"]["datavalue"]["value"]
                names.append(value.get("id") or f"Q{value['numeric-id']}")
        return list(dict.fromkeys(names))

    def facts(self, entity: Mapping[str, Any], types: Sequence[str]) -> Iterator[Record]:
        """Yield the facts of an entity, if the filters let it pass."""
        self.counts["entities read"] += 1
        if not self._seen_qualifiers:
            self._look_for_qualifiers(entity)
        subject = entity["id"]
        self.left_out["forms and senses of lexemes"] += len(entity.get("forms", ())) + len(entity.get("senses", ()))
        if (self._ids and subject not in self._ids) or (self._classes and self._classes.isdisjoint(types)):
            self.left_out["entities that the filters exclude"] += 1
            return
        self.counts["entities kept"] += 1
        for relation, statements in _claims(entity).items():
            self.counts["statements"] += len(statements)
            if self._properties and relation not in self._properties:
                self.left_out["statements of other properties"] += len(statements)
                continue
            for statement in self._ranked(statements):
                yield from self._fact(subject, relation, statement)

    def _ranked(self, statements: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """Yield the statements whose ranks are wanted, and count the others."""
        ranks = [_rank(statement) for statement in statements]
        only_preferred = self._settings.best_rank and "preferred" in ranks
        for statement, rank in zip(statements, ranks, strict=True):
            if rank == "deprecated":
                self.left_out["deprecated statements"] += 1
            elif only_preferred and rank != "preferred":
                self.left_out["statements of normal rank beside preferred ones"] += 1
            else:
                yield statement

    def _fact(self, subject: str, relation: str, statement: Mapping[str, Any]) -> Iterator[Record]:
        object = self._snaks.name(statement["mainsnak"], "statements")
        if object is None:
            return
        pairs = []
        for attribute, snaks in (statement.get("qualifiers") or {}).items():
            for snak in snaks:
                value = self._snaks.name(snak, "qualifiers")
                if value is not None:
                    pairs.append((attribute, value))
        self.left_out["references"] += len(statement.get("references", ()))
        yield Record(subject, relation, object, pairs)

    def _look_for_qualifiers(self, entity: Mapping[str, Any]) -> None:
        """Refuse a dump whose first statements have no qualifiers."""
        statements = [statement for each in _claims(entity).values() for statement in each]
        self._seen += len(statements)
        self._seen_qualifiers = any("qualifiers" in statement for statement in statements)
        if self._seen >= _FIRST and not self._seen_qualifiers:
            raise TruthyDumpError(
                f"none of the first {self._seen:,} statements has a qualifier: is this a truthy dump?",
                f"{NO_QUALIFIERS} To import triples all the same, add --without-qualifiers.",
            )


def _claims(entity: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the statements of an entity by property; without any there is an empty list."""
    claims = entity.get("claims", entity.get("statements")) or {}
    if not isinstance(claims, dict):
        raise ValueError("its claims are no object")
    return claims


def _rank(statement: Any) -> str:
    """Return the rank of a statement, which must be one as in complete dumps."""
    if not isinstance(statement, dict) or "mainsnak" not in statement:
        raise ValueError("a statement without mainsnak: simplified claims have no qualifiers")
    return str(statement.get("rank", "normal"))
