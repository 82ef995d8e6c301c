"""The frequency baseline: answer with the most frequent candidates."""

from typing import Literal

import numpy as np
import torch
from torch import Tensor

from nary.config import Settings
from nary.facts.layout import RELATION, first_value
from nary.models.base import DatasetInfo, Kind, Model
from nary.models.batch import Batch, Group

_BACKOFF = 1e-3
"""The weight of how often a candidate occurs at all, which orders those never seen in a context."""


class FrequencySettings(Settings):
    """``[model]`` of a recipe for the frequency model."""

    name: Literal["frequency"] = "frequency"


class Frequency(Model):
    """Scores a candidate by how often it occurs in the same context in the facts learned from.

    The context of a subject, object or attribute is the relation, that of a value its attribute; a masked relation has
    none, and is answered by how often each relation occurs.
    """

    name = "frequency"
    settings_class = FrequencySettings
    family = "baseline"
    description = "the most frequent elements of the slot; a baseline"
    reference = "Nary"
    supports_qualifier_dropout = False  # it is not trained in steps

    def __init__(self, settings: FrequencySettings, info: DatasetInfo) -> None:
        super().__init__(settings, info)
        with torch.device("cpu"):
            self._count()

    def score(self, batch: Batch, kind: Kind) -> Tensor:
        """The logarithm of how often each candidate occurs in the context [B, C]; its softmax is the share of each."""
        starts, candidates, counts, overall = (
            getattr(self, f"{kind}_{part}") for part in ("starts", "candidates", "counts", "overall")
        )
        contexts = torch.cat([self._contexts(group) for group in batch.groups])
        first, sizes = starts[contexts], starts[contexts + 1] - starts[contexts]
        rows = torch.arange(len(contexts), device=contexts.device).repeat_interleave(sizes)
        places = torch.arange(len(rows), device=contexts.device) + (first - (sizes.cumsum(0) - sizes))[rows]
        shares = (overall + 1) / (overall + 1).sum()  # never 0, not even for candidates that train lacks
        scores = (_BACKOFF * shares).repeat(len(contexts), 1)
        return scores.index_put((rows, candidates[places]), counts[places], accumulate=True).log()

    def _count(self) -> None:
        """Count the candidates of each kind by context, as the rows of a sparse matrix."""
        pairs: dict[Kind, list[tuple[Tensor, Tensor]]] = {"entity": [], "relation": []}  # contexts and candidates
        for block in self.info.facts.blocks:
            ids = torch.from_numpy(block.ids.astype(np.int64))
            for column in range(ids.shape[1]):
                group = Group(ids, torch.full((len(ids),), column))
                pairs["entity" if group.asks_entity[0] else "relation"].append((self._contexts(group), ids[:, column]))
        for kind, parts in pairs.items():
            size = self.info.num_candidates(kind)
            contexts, candidates = (torch.cat(part) for part in zip(*parts, strict=True))
            keys, counts = torch.unique(contexts * size + candidates, return_counts=True)
            lengths = torch.bincount(keys // size, minlength=4 * self.info.num_relations)
            self._keep(f"{kind}_starts", torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)]))
            self._keep(f"{kind}_candidates", keys % size)
            self._keep(f"{kind}_counts", counts.float())
            self._keep(f"{kind}_overall", torch.bincount(candidates, minlength=size).float())

    def _keep(self, name: str, counts: Tensor) -> None:
        self.register_buffer(name, counts, persistent=False)

    def _contexts(self, group: Group) -> Tensor:
        """The number of the context of each masked element [n]; the elements themselves are not looked at."""
        m, columns = group.qualifiers, group.columns
        roles = torch.tensor([0, 1, 2, *[1] * m, *[3] * m], device=columns.device)[columns]
        known_columns = torch.where(columns >= first_value(m), columns - m, RELATION)  # the attribute, or the relation
        known = group.ids.gather(1, known_columns[:, None])[:, 0]
        return torch.where(columns == RELATION, 0, roles * self.info.num_relations + known)
