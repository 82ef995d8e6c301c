"""The base class of tuple models: parameters for schemas and arities, and scores of whole facts."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from nary.config import Settings
from nary.facts import Role
from nary.facts.layout import SUBJECT
from nary.models.base import ENTITY_ROWS, DatasetInfo, Kind, Model
from nary.models.batch import Batch, Group
from nary.models.tuples.schemas import Schemas, Tuples

Init = Callable[[Tensor, torch.Generator], object]
"""Initializes a new parameter in place."""


class TupleModel(Model):
    """A model of tuples; it predicts entities.

    There are parameters for the schemas and arities of the facts learned from. A fact of another arity says nothing to
    such a model: all its candidates score 0.
    """

    roles = frozenset({Role.SUBJECT, Role.OBJECT, Role.VALUE})
    losses = frozenset({"cross_entropy", "softmax_bce", "sampled_softmax", "sampled_cross_entropy", "margin"})
    supports_qualifier_dropout = False  # a relation with fewer attributes is another schema
    entity: Tensor
    """The vectors of the entities [E, ...]."""

    def __init__(self, settings: Settings, info: DatasetInfo) -> None:
        super().__init__(settings, info)
        self.schemas = Schemas(info.facts, info.max_arity)
        self.arities: frozenset[int] = frozenset(block.arity for block in info.facts.blocks)
        """The arities of the facts learned from."""
        self._schema_parameters: list[nn.Parameter] = []
        # The parameters of schemas and arities have a generator of their own: the others do not depend on how many
        # schemas there are.
        self._generator = torch.Generator().manual_seed(int(torch.randint(1 << 62, (), device="cpu")))

    def schema_parameter(self, shape: tuple[int, ...], init: Init) -> nn.Parameter:
        """A new parameter [S, *shape] with a row for each schema."""
        parameter = self._new_parameter((len(self.schemas), *shape), init)
        self._schema_parameters.append(parameter)
        return parameter

    def vocabulary_tables(self) -> dict[str, tuple[Kind, ...]]:
        """The vectors of the entities; there are rows for schemas, but none for relations."""
        return {"entity": ENTITY_ROWS}

    def row_places(self, name: str, smaller: Model) -> Tensor:
        """Rows of entities, or of schemas; the rows of both begin a table."""
        if isinstance(smaller, TupleModel) and any(self.get_parameter(name) is one for one in self._schema_parameters):
            return self.schemas.find(smaller.schemas.keys)
        return super().row_places(name, smaller)

    def add_arity_parameter(self, name: str, arity: int, shape: tuple[int, ...], init: Init) -> None:
        """Add a parameter [*shape], unless there are no facts of this arity."""
        if arity in self.arities:
            self.register_parameter(name, self._new_parameter(shape, init))

    def encode(self, batch: Batch) -> Tensor:
        """A query vector for each masked fact [B, d]."""
        groups = [Tuples.of(group) for group in batch.groups]
        known = [tuples for tuples in groups if tuples.arity in self.arities]
        parts = iter(torch.split(self.encode_tuples(known), [len(tuples) for tuples in known]) if known else ())
        return torch.cat(
            [
                next(parts)
                if tuples.arity in self.arities
                else self.entity.new_zeros(len(tuples), self.entity_vectors().shape[1])
                for tuples in groups
            ]
        )

    def candidates(self, kind: Kind) -> tuple[Tensor, Tensor]:
        """The vectors of all entities [E, d]; their biases are zero."""
        if kind == "relation":
            raise NotImplementedError(f"{self.name} does not score relations")
        vectors = self.entity_vectors()
        return vectors, vectors.new_zeros(len(vectors))

    def fact_scores(self, ids: Tensor) -> Tensor:
        """The scores [n] of whole facts of one arity [n, 2m+3]: what :meth:`score` gives the masked element."""
        tuples = Tuples.of(Group(ids, ids.new_full((len(ids),), SUBJECT)))
        return self.score_tuples(tuples) if tuples.arity in self.arities else self.entity.new_zeros(len(ids))

    def encode_tuples(self, groups: Sequence[Tuples]) -> Tensor:
        """The query vectors of tuples of known arities [B, d]."""
        return torch.cat([self.encode_group(tuples) for tuples in groups])

    def encode_group(self, tuples: Tuples) -> Tensor:
        """The query vectors of tuples of one known arity [n, d]."""
        raise NotImplementedError(f"{self.name} scores without query vectors")

    def entity_vectors(self) -> Tensor:
        """The vectors that queries are multiplied with [E, d]."""
        return self.entity

    def score_tuples(self, tuples: Tuples) -> Tensor:
        """The scores [n] of whole tuples of a known arity; their ``slots`` name the subject."""
        subjects = nn.functional.embedding(tuples.entities[:, 0], self.entity_vectors())
        return (self.encode_tuples([tuples]) * subjects).sum(1)

    def _new_parameter(self, shape: tuple[int, ...], init: Init) -> nn.Parameter:
        parameter = nn.Parameter(torch.empty(shape))
        with torch.no_grad():
            init(parameter, self._generator)
        return parameter


def xavier_normal(tensor: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Initialize ``tensor`` in place."""
    return nn.init.xavier_normal_(tensor, generator=generator)


def xavier_uniform(tensor: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Initialize ``tensor`` in place."""
    return nn.init.xavier_uniform_(tensor, generator=generator)
