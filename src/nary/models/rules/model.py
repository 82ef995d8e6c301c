"""The rules as a model: the facts are counted once, and nothing is trained."""

import numpy as np
import polars as pl
import torch
from torch import Tensor

from nary.facts import Vocabulary
from nary.models.base import DatasetInfo, Kind, Model
from nary.models.batch import Batch, Group
from nary.models.rules.reader import RuleReader
from nary.models.rules.scoring import Engine
from nary.models.rules.settings import RulesSettings
from nary.models.rules.tables import Base, mine
from nary.models.rules.weights import fit_weights


class Rules(Model):
    """Scores a candidate by the rules that name it: p = 1 - product of (1 - confidence), as log-probabilities.

    The rules are counted from the facts when the model is built, and again when it is loaded; there are no weights.
    """

    name = "rules"
    settings_class = RulesSettings
    family = "rules"
    description = "rules counted on the training facts, without training"
    reference = "Nary"
    supports_qualifier_dropout = False  # it is not trained in steps

    def __init__(self, settings: RulesSettings, info: DatasetInfo) -> None:
        super().__init__(settings, info)
        self._engine: Engine | None = None
        if torch.get_default_device().type != "meta":  # an outline has no rules: counting takes time
            with torch.device("cpu"):
                base = Base.of(info.facts, info.num_entities, info.num_relations, settings)
                sizes = info.num_entities, info.num_relations
                weights = fit_weights(info.facts, *sizes, settings, base.heads) if settings.fit_weights else None
                self._engine = Engine(info.facts, *sizes, mine(info.facts, base, settings), weights)

    @property
    def engine(self) -> Engine:
        """The rules and their indexes."""
        if self._engine is None:
            raise RuntimeError("a model on the meta device has no rules")
        return self._engine

    def score(self, batch: Batch, kind: Kind) -> Tensor:
        """The log-probability of every candidate [B, C]."""
        return torch.cat([self._score(group, kind) for group in batch.groups]).to(batch.groups[0].ids.device)

    def tables(self, vocabulary: Vocabulary) -> dict[str, pl.DataFrame]:
        """All rules in words, with support, cases and confidence."""
        return {"rules": RuleReader(self.engine, vocabulary).table}

    def _score(self, group: Group, kind: Kind) -> Tensor:
        ids, columns = group.ids.cpu().numpy().astype(np.int64), group.columns.cpu().numpy()
        distinct = np.unique(columns).tolist()
        if len(distinct) == 1:
            return self.engine.score(ids, distinct[0])
        scores = torch.empty(len(ids), self.info.num_candidates(kind), device="cpu")
        for column in distinct:
            rows = np.flatnonzero(columns == column)
            scores[torch.from_numpy(rows)] = self.engine.score(ids[rows], column)
        return scores
