"""A trained model in use: everything it can be asked, in one place."""

from collections.abc import Sequence

from nary.data.dataset import Dataset
from nary.facts import Fact, FactTable, Position, Query
from nary.inference import completion, explanation, neighbors, plausibility, prediction, suggestions
from nary.inference.asking import Asker
from nary.inference.names import Names
from nary.inference.prediction import Known
from nary.inference.results import (
    Completions,
    Explanation,
    Neighbors,
    Plausibility,
    Prediction,
    Suggestions,
)
from nary.models.base import Kind, Model
from nary.progress import Progress, no_progress


class Predictor:
    """Answers questions with a trained model.

    Names may be given as they stand in the vocabulary, by label, or in another case. ``held_out`` holds facts the
    model has not learned from; its probabilities are calibrated on them.
    """

    def __init__(self, model: Model, dataset: Dataset, held_out: FactTable | None = None) -> None:
        self.asker = Asker(model, dataset, held_out)

    @property
    def names(self) -> Names:
        """Finds entities and relations by what people write."""
        return self.asker.names

    @property
    def calibrated(self) -> bool:
        """Whether probabilities are fitted to facts the model has not learned from."""
        return self.asker.calibrated

    def check(self, query: Query) -> Query:
        """The query in the names of the vocabulary; an error if :meth:`predict` could not answer it."""
        resolved = self.names.resolve(query)
        for gap in resolved.gaps:
            self.asker.question(resolved, gap)
        if len(resolved.gaps) > 1:
            completion.check_multiple_masks(self.asker.model)
        return resolved

    def predict(self, query: Query, k: int = 10, known: Known = "mark") -> Prediction | Completions:
        """The ``k`` best answers to a query; of one with several gaps the best completions, as :meth:`complete`."""
        if len(query.gaps) > 1:
            return self.complete(query, k, known)
        return self.predict_many([query], k, known)[0]

    def predict_many(self, queries: Sequence[Query], k: int = 10, known: Known = "mark") -> list[Prediction]:
        """The ``k`` best answers to each of many queries with one gap, asked together."""
        return prediction.predict(self.asker, [self.names.resolve(query) for query in queries], k, known)

    def complete(self, query: Query, k: int = 10, known: Known = "mark") -> Completions:
        """The ``k`` best ways to fill all gaps of a query, by their joint probability. Experimental."""
        return completion.complete(self.asker, self.names.resolve(query), k, known)

    def score(self, facts: Sequence[Fact]) -> list[Plausibility]:
        """How plausible each fact is, and which of its elements fits least."""
        resolved = [self.names.resolve(fact) for fact in facts]
        return self.score_table(FactTable.from_facts(resolved, self.asker.vocabulary))

    def score_table(self, table: FactTable, progress: Progress = no_progress) -> list[Plausibility]:
        """Like :meth:`score`, for a table of facts with the ids of the vocabulary."""
        return plausibility.score(self.asker, table, progress)

    def suggest(self, fact: Fact, k: int = 10) -> Suggestions:
        """The ``k`` most probable qualifiers that the fact does not have yet."""
        return suggestions.suggest(self.asker, self.names.resolve(fact), k)

    def explain(self, fact: Fact, position: Position) -> Explanation:
        """Why the model gives the element at ``position`` as an answer: contributions, similar facts, attention."""
        return explanation.explain(self.asker, self.names.resolve(fact), position)

    def similar(self, name: str, kind: Kind | None = None, k: int = 10) -> Neighbors:
        """The ``k`` entities, or relations, whose vectors are nearest to that of ``name``."""
        return neighbors.similar(self.asker, name, kind, k)
