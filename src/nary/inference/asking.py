"""Asking a trained model: questions in, scores and calibrated probabilities of all candidates out."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nary.data.dataset import Dataset
from nary.errors import FactError, SettingError
from nary.evaluation.known import KnownAnswers
from nary.evaluation.queries import ask
from nary.evaluation.scoring import ScoreError
from nary.facts import GAP, Fact, FactTable, Position, Query
from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, RELATION, SUBJECT
from nary.inference.calibration import fit_temperature, sample_size
from nary.inference.names import Names
from nary.inference.questions import Question, batch_of
from nary.models.base import Kind, Model

_MEMORY = 1 << 26  # bytes of scores held at a time
_LARGEST_CHUNK = 1024


class Scored(NamedTuple):
    """Scores and log probabilities [n, C] of all candidates, for the questions at ``places`` [n] of those asked."""

    places: list[int]
    scores: Tensor
    log_probabilities: Tensor


class Asker:
    """A model with the names and facts it knows: what every use of a trained model is made of.

    ``held_out`` holds facts the model has not learned from, to calibrate its probabilities on.
    """

    def __init__(self, model: Model, dataset: Dataset, held_out: FactTable | None) -> None:
        self.model = model.eval()
        self.dataset = dataset
        self.vocabulary = dataset.vocabulary
        self.names = Names(dataset.vocabulary)
        self.known = KnownAnswers(list(dataset.splits.values()), "order-free")
        self.calibrated = bool(held_out)
        self._held_out = held_out or FactTable([])
        self._temperatures: dict[Kind, float] = {}

    @cached_property
    def device(self) -> torch.device:
        """Where the model computes."""
        tensor = next(chain(self.model.parameters(), self.model.buffers()), None)
        return torch.device("cpu") if tensor is None else tensor.device

    def candidates(self, kind: Kind) -> Sequence[str]:
        """The names of all candidates of a kind."""
        return self.vocabulary.entities if kind == "entity" else self.vocabulary.relations

    def question(self, statement: Fact | Query, position: Position) -> Question:
        """The question for one element of a fact or query whose names are those of the vocabulary; gaps are hidden."""
        elements = statement.elements()
        if position not in elements:
            raise FactError(f"{statement} has no {position}", f"It has: {', '.join(map(str, elements))}")
        self.check_arity(statement.arity)
        if position.role not in self.model.roles:
            can = ", ".join(sorted(role.value for role in self.model.roles))
            raise SettingError(f"{self.model.name} cannot predict the {position}", f"It predicts: {can}.")
        entities, relations = self.vocabulary.entity_ids, self.vocabulary.relation_ids
        ids = (
            0 if element is GAP else (entities if at.role.is_entity else relations)[str(element)]
            for at, element in elements.items()
        )
        column = list(elements).index(position)
        gaps = frozenset(place for place, element in enumerate(elements.values()) if element is GAP)
        return Question(tuple(ids), column, gaps - {column})

    def fact(self, ids: Sequence[int]) -> Fact:
        """The fact with these ids [2m+3]; its qualifiers may stand in any order."""
        entities, relations = self.vocabulary.entities, self.vocabulary.relations
        values = (len(ids) + FIRST_ATTRIBUTE) // 2
        attributes = [relations[i] for i in ids[FIRST_ATTRIBUTE:values]]
        pairs = zip(attributes, (entities[i] for i in ids[values:]), strict=True)
        return Fact(entities[ids[SUBJECT]], relations[ids[RELATION]], entities[ids[OBJECT]], pairs)

    def ask(self, questions: Sequence[Question]) -> Iterator[Scored]:
        """Score all candidates for every question, in as few calls of the model as memory allows."""
        for kind in ("entity", "relation"):
            places = [place for place, question in enumerate(questions) if question.kind == kind]
            places.sort(key=lambda place: len(questions[place].ids))
            size = max(1, min(_LARGEST_CHUNK, _MEMORY // (4 * len(self.candidates(kind)))))
            for start in range(0, len(places), size):
                own = places[start : start + size]
                scores = self._score([questions[place] for place in own], kind)
                yield Scored(own, scores, (scores / self.temperature(kind)).log_softmax(-1))

    def vectors(self, questions: Sequence[Question]) -> Tensor:
        """The query vectors [n, d]; not every model has them."""
        places = sorted(range(len(questions)), key=lambda place: len(questions[place].ids))
        parts = []
        with torch.inference_mode():
            for start in range(0, len(places), _LARGEST_CHUNK):
                own = [questions[place] for place in places[start : start + _LARGEST_CHUNK]]
                parts.append(self.model.encode(batch_of(own).to(self.device)).float().cpu())
        return torch.cat(parts)[torch.tensor(places).argsort()]

    def known_answers(self, question: Question) -> list[int]:
        """The ids that make a known fact of the question, ascending."""
        return self.known.of(np.array([question.ids]), question.column)[1].tolist()

    def is_known(self, fact: Fact) -> bool:
        """Whether a fact whose names are those of the vocabulary is one of the facts given to the model."""
        question = Question(tuple(FactTable.from_facts([fact], self.vocabulary).blocks[0].ids[0].tolist()), 0)
        return question.ids[0] in self.known_answers(question)

    def temperature(self, kind: Kind) -> float:
        """What scores are divided by before they become probabilities; fitted when it is first needed."""
        if kind not in self._temperatures:
            self._temperatures[kind] = self._fit(kind)
        return self._temperatures[kind]

    def check_arity(self, arity: int) -> None:
        """Refuse qualifiers if no fact given to the model has any: it would answer as if at random."""
        if arity > 2 and self._arities == {2}:
            raise FactError(
                f"{self.model.name} knows no qualifiers here: it was given triples alone", "Leave the qualifiers out."
            )

    @cached_property
    def _arities(self) -> set[int]:
        """Those of the facts given to the model."""
        return {arity for table in self.dataset.splits.values() for arity in table.arities}

    def notes(self, arity: int) -> list[str]:
        """What to say about answers to a query of this arity."""
        seen = arity in self._arities
        found = [] if seen else [f"the model has never seen a fact of arity {arity}"]
        if not self.calibrated:
            found.append("the probabilities are not calibrated: there are no valid facts held out from training")
        return found

    def _fit(self, kind: Kind) -> float:
        asked = [queries for queries in ask(self._held_out, self.model.roles)[0] if queries.kind == kind]
        rows = [(queries, row) for queries in asked for row in range(len(queries))]
        size = sample_size(len(self.candidates(kind)))
        if len(rows) > size:
            chosen = np.random.default_rng(0).choice(len(rows), size, replace=False)
            rows = [rows[place] for place in np.sort(chosen).tolist()]
        if not rows:
            return 1.0
        questions = [Question(tuple(queries.ids[row].tolist()), queries.column) for queries, row in rows]
        scores = torch.cat([self._score(questions[start : start + 64], kind) for start in range(0, len(questions), 64)])
        return fit_temperature(scores, torch.tensor([question.ids[question.column] for question in questions]))

    def _score(self, questions: Sequence[Question], kind: Kind) -> Tensor:
        with torch.inference_mode():
            scores = self.model.score(batch_of(questions).to(self.device), kind)
            if scores.sum().isnan() and scores.isnan().any():  # infinite scores may add up to NaN too
                raise ScoreError(
                    "the model gives NaN as a score", "Did its training diverge? Lower training.learning_rate."
                )
            return scores.float().cpu()
