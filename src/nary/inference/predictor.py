"""The predictor: everything a trained model can be asked, in one class."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from nary.data.dataset import Dataset
from nary.facts import Fact, FactTable, Position, Query
from nary.inference import completion, explanation, neighbors, plausibility, prediction, reasons
from nary.inference.classification import FactClassifier
from nary.inference.context import Context
from nary.inference.entity_profile import entity_profile
from nary.inference.explanation_results import Explanation, RuleList
from nary.inference.missing import EntitySlots, missing
from nary.inference.names import Names
from nary.inference.prediction import Known
from nary.inference.profile_results import DoubtfulFacts, EntityProfile, MissingFacts
from nary.inference.relation_profile import RelationProfiles
from nary.inference.results import Completions, Neighbors, Plausibility, Prediction, StoredFacts, Suggestions
from nary.inference.suggestions import Suggester
from nary.models.base import Kind, Model
from nary.progress import Progress, no_progress


class Predictor:
    """Answers queries with a trained model.

    Names may be given as in the vocabulary, by label, or ignoring case. ``held_out`` holds facts the model was not
    trained on; probabilities are calibrated on them. ``partial`` says whether it was trained on facts with qualifiers
    left out. ``unseen`` tells how names that the model does not know are treated; results say it.
    """

    def __init__(
        self,
        model: Model,
        dataset: Dataset,
        held_out: FactTable | None = None,
        partial: bool = False,
        unseen: Mapping[str, str] | None = None,
    ) -> None:
        self.context = Context(model, dataset, held_out, partial, unseen)
        self.classifier = FactClassifier(self.context, held_out)
        self.suggester = Suggester(self.context, held_out)

    @property
    def names(self) -> Names:
        """Finds entities and relations by name or label."""
        return self.context.names

    @property
    def calibrated(self) -> bool:
        """Whether probabilities are calibrated on facts the model was not trained on."""
        return self.context.calibrated

    def check(self, query: Query) -> Query:
        """The query in the names of the vocabulary; an error if the model cannot predict all of its gaps."""
        resolved = self.names.resolve(query)
        for gap in resolved.gaps:
            self.context.check(resolved, gap)
        if len(resolved.gaps) > 1:
            completion.check_multiple_masks(self.context.model)
        return resolved

    def predict(self, query: Query, k: int = 10, known: Known = "first") -> Prediction:
        """The ``k`` best answers to a query with one gap; :meth:`complete` fills several."""
        return self.predict_many([query], k, known)[0]

    def predict_many(self, queries: Sequence[Query], k: int = 10, known: Known = "first") -> list[Prediction]:
        """The ``k`` best answers to each of many queries with one gap, scored together."""
        return prediction.predict(self.context, [self.names.resolve(query) for query in queries], k, known)

    def complete(self, query: Query, k: int = 10, known: Known = "first") -> Completions:
        """The ``k`` best ways to fill all gaps of a query, by their joint probability. Experimental."""
        return completion.complete(self.context, self.names.resolve(query), k, known)

    def score(self, facts: Sequence[Fact]) -> list[Plausibility]:
        """The plausibility of each fact and of its elements."""
        resolved = [self.names.resolve(fact) for fact in facts]
        return self.score_table(FactTable.from_facts(resolved, self.context.vocabulary))

    def score_table(self, table: FactTable, progress: Progress = no_progress) -> list[Plausibility]:
        """Like :meth:`score`, for a table of facts with the ids of the vocabulary."""
        return plausibility.score(self.context, self.classifier, table, progress)

    def suggest(self, fact: Fact, k: int = 10, known: Known = "first") -> Suggestions:
        """The ``k`` best qualifiers that the fact does not have yet: those of stored facts, then the most probable."""
        return self.suggester.suggest(self.names.resolve(fact), k, known)

    def explain(self, fact: Fact, position: Position) -> Explanation:
        """Why the model gives the element at ``position``: contributions, similar facts, attention."""
        return explanation.explain(self.context, self.names.resolve(fact), position)

    def find_facts(self, pattern: Fact | Query, limit: int = 20) -> StoredFacts:
        """The stored facts that contain a pattern."""
        return self.context.lookup.find(pattern, limit)

    def entity(self, name: str, limit: int = 5) -> EntityProfile:
        """The stored facts about an entity in groups, with the first ``limit`` facts of each."""
        return entity_profile(self.context.lookup, name, limit)

    @cached_property
    def relations(self) -> RelationProfiles:
        """How each relation is used."""
        return RelationProfiles(self.context.lookup)

    def missing(self, entity: str, k: int = 5) -> MissingFacts:
        """What is probably missing about an entity: relations that others like it have, with the best answers."""
        return missing(self.context, self._entity_slots, entity, k)

    @cached_property
    def _entity_slots(self) -> EntitySlots:
        vocabulary = self.context.vocabulary
        return EntitySlots(self.context.lookup.index.table, len(vocabulary.entities), len(vocabulary.relations))

    def doubtful(self, entity: str, limit: int = 50, offset: int = 0) -> DoubtfulFacts:
        """The stored facts about an entity after the first ``offset``, ``limit`` of them, least plausible first."""
        lookup = self.context.lookup
        return plausibility.doubtful(lookup, entity, self.score(lookup.facts_about(entity, limit, offset)), offset)

    def rules(
        self, relation: str | None = None, kind: str | None = None, role: str | None = None, limit: int = 20
    ) -> RuleList:
        """The most confident rules, of one relation, of one kind and for one role if these are given."""
        return reasons.list_rules(self.context, relation, kind, role, limit)

    def similar(self, name: str, kind: Kind | None = None, k: int = 10) -> Neighbors:
        """The ``k`` entities, or relations, whose vectors are nearest to that of ``name``."""
        return neighbors.similar(self.context, name, kind, k)
