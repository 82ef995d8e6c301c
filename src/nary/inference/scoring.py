"""Score facts of a file: a result for each of them, in their order, with the file and line it stands in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nary.data.transforms.reindex import translate
from nary.errors import DataError, NaryError
from nary.facts import Fact, FactTable, Vocabulary
from nary.inference.predictor import Predictor
from nary.inference.results import Plausibility
from nary.progress import Progress, no_progress

Place = tuple[str, int]
"""A file, and a line in it."""


@dataclass(frozen=True)
class ScoredFact:
    """A fact of a file with its plausibility, or the reason why it has none."""

    fact: str
    place: Place | None
    score: Plausibility | NaryError

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        place = {} if self.place is None else {"file": self.place[0], "line": self.place[1]}
        if isinstance(self.score, NaryError):
            return {**place, "fact": self.fact, "error": self.score.as_dict()}
        return {**place, **self.score.as_dict()}


def score_facts(
    predictor: Predictor,
    table: FactTable,
    vocabulary: Vocabulary,
    places: Sequence[Place] | None,
    progress: Progress = no_progress,
) -> list[ScoredFact]:
    """Score the facts of ``table``, which are in the names of ``vocabulary``; none is left out."""
    target = predictor.context.vocabulary
    entities = translate(vocabulary.entities, target.entity_ids)
    relations = translate(vocabulary.relations, target.relation_ids)
    known = np.zeros(len(table), bool)
    for block in table.blocks:
        unknown = (entities[block.entities] < 0).any(axis=1) | (relations[block.relations] < 0).any(axis=1)
        known[block.rows] = ~unknown
    scores: Iterator[Plausibility] = iter(())
    if known.any():
        chosen = table.take(np.flatnonzero(known)).renumbered(entities, relations)
        scores = iter(predictor.score_table(chosen, progress))
    results = []
    for number, fact in enumerate(table.facts(vocabulary)):
        score: Plausibility | NaryError = next(scores) if known[number] else _unknown_name(fact, target)
        results.append(ScoredFact(str(fact), None if places is None else places[number], score))
    return results


def _unknown_name(fact: Fact, vocabulary: Vocabulary) -> NaryError:
    """The error about the first name of a fact that the model does not know."""
    for position, name in fact.elements().items():
        is_entity = position.role.is_entity
        if name not in (vocabulary.entity_ids if is_entity else vocabulary.relation_ids):
            return DataError(f"unknown {'entity' if is_entity else 'relation'} {name!r}")
    raise AssertionError("all names are known")
