"""Filling the gap of a query."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from nary.errors import FactError, SettingError
from nary.evaluation.known import KnownAnswers
from nary.facts import GAP, Element, FactTable, Query, Vocabulary
from nary.facts.table import Ids
from nary.models.batch import Batch, Group
from nary.models.contract import Kind, Model


@dataclass(frozen=True)
class Answer:
    """A candidate for the gap; ``known`` says that the completed fact is one of the facts the model knows."""

    name: str
    label: str
    probability: float
    score: float
    known: bool


@dataclass(frozen=True)
class Prediction:
    """The best answers to a query, best first."""

    query: str
    position: str
    answers: Sequence[Answer]
    notes: Sequence[str] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "answers": [asdict(answer) for answer in self.answers]}


class Predictor:
    """Answers queries with a trained model."""

    def __init__(self, model: Model, vocabulary: Vocabulary, facts: Sequence[FactTable]) -> None:
        self.model = model.eval()
        self.vocabulary = vocabulary
        self._known = KnownAnswers(facts, "order-free")
        self._arities = {block.arity for table in facts for block in table.blocks}

    def predict(self, query: Query, k: int = 10) -> Prediction:
        """The ``k`` best answers to a query with one gap."""
        if k < 1:
            raise SettingError(f"{k} answers were asked for", "Ask for one or more.")
        if len(query.gaps) > 1:
            raise FactError(f"{query} has {len(query.gaps)} gaps", "Leave one gap; several are not supported yet.")
        position = query.gaps[0]
        if position.role not in self.model.roles:
            can = ", ".join(sorted(role.value for role in self.model.roles))
            raise SettingError(f"{self.model.name} cannot predict the {position}", f"It predicts: {can}.")
        ids, column = self._encode(query)
        kind: Kind = "entity" if position.role.is_entity else "relation"
        with torch.inference_mode():
            group = Group(torch.from_numpy(ids.astype(np.int64)), torch.tensor([column]))
            scores = self.model.score(Batch([group]), kind)[0].float()
        probabilities = scores.softmax(-1)
        best = scores.topk(min(k, scores.numel()))
        known = set(self._known.of(ids, column)[1].tolist())
        names = self.vocabulary.entities if kind == "entity" else self.vocabulary.relations
        answers = [
            Answer(names[i], self.vocabulary.label(names[i]), float(probabilities[i]), float(score), i in known)
            for score, i in zip(best.values.tolist(), best.indices.tolist(), strict=True)
        ]
        notes = () if query.arity in self._arities else (f"the model has never seen a fact of arity {query.arity}",)
        return Prediction(str(query), str(position), answers, notes)

    def _encode(self, query: Query) -> tuple[Ids, int]:
        """The query as a row of ids [1, 2m+3], 0 in the gap, and the column of the gap."""
        elements = list(query.elements().values())
        roles = [position.role for position in query.elements()]

        def number(element: Element, is_entity: bool) -> int:
            if element is GAP:
                return 0
            return self.vocabulary.entity(str(element)) if is_entity else self.vocabulary.relation(str(element))

        row = [number(element, role.is_entity) for element, role in zip(elements, roles, strict=True)]
        return np.array([row], np.int32), elements.index(GAP)
