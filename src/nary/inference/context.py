"""What every use of a trained model shares: the model and its scorer, names, known facts, calibration."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from torch import Tensor

from nary.data.dataset import Dataset
from nary.errors import FactError, SettingError
from nary.evaluation.known_answers import KnownAnswers
from nary.evaluation.queries import EncodedQuery, encode_query
from nary.evaluation.scorer import QueryScorer
from nary.facts import Fact, FactTable, Position, Query
from nary.facts.layout import RELATION
from nary.inference.calibration import Calibration
from nary.inference.names import Names
from nary.models.base import Kind, Model

_MEMORY = 1 << 27  # bytes of scores held at a time
_MAX_CHUNK = 1024


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

    ``held_out`` holds facts the model was not trained on, to calibrate its probabilities.
    """

    def __init__(self, model: Model, dataset: Dataset, held_out: FactTable | None) -> None:
        self.model = model.eval()
        self.dataset = dataset
        self.vocabulary = dataset.vocabulary
        self.names = Names(dataset.vocabulary)
        self.known = KnownAnswers(list(dataset.splits.values()), "order-free")
        num_candidates: dict[Kind, int] = {
            "entity": len(dataset.vocabulary.entities),
            "relation": len(dataset.vocabulary.relations),
        }
        self.scorer = QueryScorer(model, _MEMORY, _MAX_CHUNK, num_candidates)
        self.calibration = Calibration(model, num_candidates, held_out)

    @property
    def calibrated(self) -> bool:
        """Whether probabilities are calibrated on facts the model was not trained on."""
        return self.calibration.is_fitted

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
                f"{self.model.name} knows no qualifiers here: it was given triples alone", "Leave the qualifiers out."
            )

    def encode(self, statement: Fact | Query, position: Position) -> EncodedQuery:
        """Encode the query for one element of a fact or query in the names of the vocabulary."""
        query = encode_query(statement, position, self.vocabulary)
        self.check(statement, position)
        return query

    def score(self, queries: Sequence[EncodedQuery]) -> Iterator[ScoredCandidates]:
        """Score all candidates for every query, a chunk at a time."""
        for part in self.scorer.score(queries):
            log_probabilities = (part.scores / self.calibration.temperature(part.kind)).log_softmax(-1)
            yield ScoredCandidates(part.places.tolist(), part.rows.tolist(), part.scores, log_probabilities)

    def known_answers(self, query: EncodedQuery) -> list[int]:
        """The ids that complete the query to a known fact, ascending."""
        return self.known.of(np.array([query.ids]), query.column)[1].tolist()

    def is_known(self, fact: Fact) -> bool:
        """Whether a fact, in the names of the vocabulary, is one of the facts given to the model."""
        ids = FactTable.from_facts([fact], self.vocabulary).blocks[0].ids[0].tolist()
        return ids[RELATION] in self.known_answers(EncodedQuery(tuple(ids), RELATION))

    @cached_property
    def _arities(self) -> set[int]:
        """The arities of the facts given to the model."""
        return {arity for table in self.dataset.splits.values() for arity in table.arities}

    def notes(self, arity: int) -> list[str]:
        """Caveats for the answers to a query of this arity."""
        notes = [] if arity in self._arities else [f"the model has never seen a fact of arity {arity}"]
        if not self.calibrated:
            notes.append("the probabilities are not calibrated: there are no valid facts held out from training")
        return notes
