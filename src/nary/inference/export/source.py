"""What is exported: a model that scores with vectors, the names of its candidates, the arity of its facts."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nary.data.dataset import Dataset
from nary.errors import SettingError
from nary.facts import Vocabulary
from nary.models.base import Model

Row = tuple[str, str, str, int]
"""Name, label, kind and id."""


@dataclass(frozen=True)
class Source:
    """A model and its dataset; ``arity`` matters to programs only."""

    model: Model
    dataset: Dataset
    arity: int

    @property
    def vocabulary(self) -> Vocabulary:
        """The names of the candidates."""
        return self.dataset.vocabulary

    def rows(self) -> list[Row]:
        """Every candidate, in the order of :meth:`vectors`: the entities and then the relations, by id."""
        kinds = (("entity", self.vocabulary.entities), ("relation", self.vocabulary.relations))
        return [(name, self.vocabulary.label(name), kind, i) for kind, names in kinds for i, name in enumerate(names)]

    def vectors(self) -> npt.NDArray[np.float32]:
        """The vectors candidates are scored with [E + R, d]; their biases are no part of them."""
        tables = [self.model.candidates(kind)[0].detach().float().cpu().numpy() for kind in ("entity", "relation")]
        return np.concatenate(tables)

    def check(self) -> None:
        """Refuse a model without vectors."""
        try:
            self.model.candidates("relation")
        except NotImplementedError:
            raise SettingError(
                f"{self.model.name} has no vectors of entities and relations, so it cannot be exported",
                "Export a model that has them, such as gran.",
            ) from None
