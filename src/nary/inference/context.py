"""What every use of a trained model shares: the model and its scorer, names, known facts, calibration."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from torch import Tensor

from nary.data.dataset import Dataset
from nary.errors import FactError, SettingError
from nary.evaluation.known_answers import KnownAnswers
from nary.evaluation.queries import EncodedQuery, encode_query
from nary.evaluation.scorer import QueryScorer
from nary.evaluation.values import ValueRanges
from nary.facts import GAP, Fact, FactTable, Position, Query
from nary.facts.layout import RELATION
from nary.inference.best import Best, BestCandidates, Wanted
from nary.inference.calibration import Calibration
from nary.inference.entity_index import EntityIndex
from nary.inference.lookup import FactLookup
from nary.inference.names import Names
from nary.inference.slots import Slots
from nary.models.base import Kind, Model

_MEMORY = 1 << 27  # bytes of scores held at a time


class ScoredCandidates(NamedTuple):
    """Scores and log probabilities [k, C] of all candidates for some queries.

    Query ``places[i]`` has the scores in row ``rows[i]``.
    """

    places: list[int]
    rows: list[int]
    scores: Tensor
    log_probabilities: Tensor


class Context:
    """A trained model with the names and facts it knows.

    ``held_out`` holds facts the model was not trained on, to calibrate its probabilities. ``partial`` says whether it
    was trained on facts with qualifiers left out. ``unseen`` tells how names that the model does not
    know are treated.
    """

    def __init__(
        self,
        model: Model,
        dataset: Dataset,
        held_out: FactTable | None = None,
        partial: bool = False,
        unseen: Mapping[str, str] | None = None,
    ) -> None:
        self.model = model.eval()
        self._unseen = unseen or {}
        self.dataset = dataset
        self.vocabulary = dataset.vocabulary
        self.names = Names(dataset.vocabulary)
        self.lookup = FactLookup(dataset, self.names)
        self.known = KnownAnswers(list(dataset.splits.values()), "order-free")
        num_candidates: dict[Kind, int] = {
            "entity": len(dataset.vocabulary.entities),
            "relation": len(dataset.vocabulary.relations),
        }
        self.scorer = QueryScorer(model, _MEMORY, num_candidates=num_candidates)
        self._takes_partial = partial or next(model.parameters(), None) is None  # what only counts takes any part
        self.calibration = Calibration(model, num_candidates, held_out)
        self.index: EntityIndex | None = None

    @property
    def calibrated(self) -> bool:
        """Whether probabilities are calibrated on facts the model was not trained on."""
        return self.calibration.is_fitted

    @cached_property
    def slots(self) -> Slots:
        """What stands in each slot of the training facts."""
        return Slots(self.dataset.train, len(self.vocabulary.entities), len(self.vocabulary.relations))

    @cached_property
    def ranges(self) -> ValueRanges:
        """The numbers and dates in each slot of the training facts."""
        return ValueRanges(self.dataset.train, self.vocabulary)

    def candidates(self, kind: Kind) -> Sequence[str]:
        """The names of all candidates of a kind."""
        return self.vocabulary.entities if kind == "entity" else self.vocabulary.relations

    def check(self, statement: Fact | Query, position: Position) -> None:
        """Raise an error if the model cannot predict the element at ``position``."""
        self.check_arity(statement.arity)
        if position.role not in self.model.roles:
            can = ", ".join(sorted(role.value for role in self.model.roles))
            raise SettingError(f"{self.model.name} cannot predict the {position}", f"It predicts: {can}.")

    def check_arity(self, arity: int) -> None:
        """Refuse qualifiers if no fact given to the model has any: its answers would be random."""
        if arity > 2 and self._arities == {2}:
            raise FactError(
                f"{self.model.name} knows no qualifiers: it was trained on triples alone", "Leave the qualifiers out."
            )

    def encode(self, statement: Fact | Query, position: Position) -> EncodedQuery:
        """Encode the query for one element of a fact or query in the names of the vocabulary.

        People rarely know all qualifiers of a fact, so the query is partial.
        """
        query = encode_query(statement, position, self.vocabulary)
        self.check(statement, position)
        return replace(query, partial=True)

    def score(self, queries: Sequence[EncodedQuery]) -> Iterator[ScoredCandidates]:
        """Score all candidates for every query, a chunk at a time."""
        for part in self.scorer.score(queries):
            log_probabilities = (part.scores / self.calibration.temperature(part.kind)).log_softmax(-1)
            yield ScoredCandidates(part.places.tolist(), part.rows.tolist(), part.scores, log_probabilities)

    def best(self, queries: Sequence[EncodedQuery], wanted: Sequence[Wanted]) -> list[Best]:
        """The best candidates for every query, without holding the scores of all candidates of a large table."""
        results: dict[int, Best] = {}
        for part in self.scorer.score_slices(queries):
            places, temperature = part.places.tolist(), self.calibration.temperature(part.kind)
            best = BestCandidates([wanted[place] for place in places], part.rows.tolist(), temperature)
            for scores in part.slices:
                best.add(scores)
            results.update(zip(places, best.results(), strict=True))
        return [results[place] for place in range(len(queries))]

    def probably_best(self, queries: Sequence[EncodedQuery], wanted: Sequence[Wanted]) -> list[Best]:
        """Like :meth:`best`, but entities come from the index if there is one, which may miss some."""
        places = [place for place, query in enumerate(queries) if self.approximates(query)]
        if self.index is None or not places:
            return self.best(queries, wanted)
        vectors = self.scorer.encode([queries[place] for place in places])
        of_entities = self.index.best(vectors, [wanted[at] for at in places], self.calibration.temperature("entity"))
        others = [place for place in range(len(queries)) if place not in set(places)]
        of_others = self.best([queries[place] for place in others], [wanted[place] for place in others])
        results = dict(zip([*places, *others], [*of_entities, *of_others], strict=True))
        return [results[place] for place in range(len(queries))]

    def approximates(self, query: EncodedQuery) -> bool:
        """Whether the index answers this query."""
        return self.index is not None and query.kind == "entity"

    @cached_property
    def _arities(self) -> set[int]:
        """The arities of the facts given to the model."""
        return {arity for table in self.dataset.splits.values() for arity in table.arities}

    def takes_arity(self, arity: int) -> bool:
        """Whether the model can be asked about facts of this arity: not all can if they have not seen it."""
        return arity in self._arities or self.model.supports_qualifier_dropout

    @cached_property
    def _fewest_qualifiers(self) -> npt.NDArray[np.int64]:
        """The fewest qualifiers that a training fact with each relation has [R]; 0 for relations without facts."""
        fewest = np.zeros(len(self.vocabulary.relations), np.int64)
        for block in reversed(self.dataset.train.blocks):  # lower arities overwrite higher ones
            fewest[block.ids[:, RELATION]] = block.qualifiers
        return fewest

    def notes(self, statement: Fact | Query) -> list[str]:
        """Caveats for what is said about a fact or query."""
        notes = self.arity_notes(statement)
        if not self.calibrated:
            notes.append("the probabilities are not calibrated: no valid facts are held out from training")
        return notes

    def arity_notes(self, statement: Fact | Query) -> list[str]:
        """Caveats if the model has not seen a name, or nothing with so few, or so many, qualifiers."""
        names = dict.fromkeys(str(element) for element in statement.elements().values() if element is not GAP)
        unseen = [f"{name!r} is {self._unseen[name]}" for name in names if name in self._unseen]
        return [*unseen, *self._arity_notes(statement)]

    def _arity_notes(self, statement: Fact | Query) -> list[str]:
        arity, given = statement.arity, len(statement.qualifiers)
        if arity not in self._arities and (not self._takes_partial or arity > max(self._arities)):
            return [f"no stored fact has arity {arity}"]
        if self._takes_partial or statement.relation is GAP:
            return []
        fewest = int(self._fewest_qualifiers[self.vocabulary.relation(str(statement.relation))])
        if given >= fewest:
            return []
        return [
            f"{given} qualifiers are given; every fact with {statement.relation} that the model was trained on has "
            f"{fewest} or more, and it was not trained with training.qualifier_dropout"
        ]
