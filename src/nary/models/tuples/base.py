"""What the models of tuples share: schemas, parameters that follow from them, and scores of whole facts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from nary.facts import FactTable, Role
from nary.facts.layout import SUBJECT
from nary.models.batch import Batch, Group
from nary.models.contract import Kind, Model, Sizes
from nary.models.tuples.schemas import Schemas, arities_of
from nary.models.tuples.tuples import Tuples

Start = Callable[[Tensor], object]
"""Gives a new parameter its first values, in place."""


class TupleModel(Model):
    """A model of tuples; it predicts entities.

    How many schemas there are, and which arities, only the facts tell. So what there is one of for each schema or arity
    is an empty buffer at first; :meth:`prepare`, or loading weights, makes a parameter of it. A fact of an arity that
    training never saw tells such a model nothing: all candidates score 0.
    """

    roles = frozenset({Role.SUBJECT, Role.OBJECT, Role.VALUE})
    losses = frozenset({"cross_entropy", "softmax_bce", "sampled_cross_entropy", "margin"})
    entity: Tensor
    """The vectors of the entities [E, ...]."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.schemas = Schemas(sizes.max_arity)
        self.arities: frozenset[int] = frozenset()
        """The arities that training saw."""
        self._grown: dict[str, tuple[int | None, tuple[int, ...], Start]] = {}
        self._seed = int(torch.randint(1 << 62, (), device="cpu"))  # prepare may come after other random numbers

    def by_schema(self, name: str, shape: tuple[int, ...], start: Start) -> None:
        """Have a parameter [S, *shape] with a row for each schema."""
        self._grow(name, None, shape, start)

    def by_arity(self, name: str, arity: int, shape: tuple[int, ...], start: Start) -> None:
        """Have a parameter [*shape] if there are facts of this arity."""
        self._grow(name, arity, shape, start)

    def prepare(self, train: FactTable) -> None:
        """Number the schemas, and make the parameters that follow from them."""
        self.schemas.count(train)
        self._allocate(self.schemas.keys)
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(self._seed)
            for name, (arity, _, start) in self._grown.items():
                if arity is None or arity in self.arities:
                    start(getattr(self, name))

    def encode(self, batch: Batch) -> Tensor:
        """A vector for each masked fact [B, d]."""
        tuples = [Tuples.of(group) for group in batch.groups]
        known = [own for own in tuples if own.arity in self.arities]
        parts = iter(torch.split(self.encode_tuples(known), [len(own) for own in known]) if known else ())
        return torch.cat(
            [
                next(parts)
                if own.arity in self.arities
                else self.entity.new_zeros(len(own), self.entity_vectors().shape[1])
                for own in tuples
            ]
        )

    def candidates(self, kind: Kind) -> tuple[Tensor, Tensor]:
        """The vectors of all entities [E, d]; their biases are zero."""
        if kind == "relation":
            raise NotImplementedError(f"{self.name} does not score relations")
        vectors = self.entity_vectors()
        return vectors, vectors.new_zeros(len(vectors))

    def fact_scores(self, ids: Tensor) -> Tensor:
        """The scores [n] of whole facts of one arity [n, 2m+3]: what :meth:`score` gives the element that is masked."""
        tuples = Tuples.of(Group(ids, ids.new_full((len(ids),), SUBJECT)))
        return self.score_tuples(tuples) if tuples.arity in self.arities else self.entity.new_zeros(len(ids))

    def encode_tuples(self, tuples: Sequence[Tuples]) -> Tensor:
        """The query vectors of tuples [B, d], whose arities training saw."""
        return torch.cat([self.encode_one(own) for own in tuples])

    def encode_one(self, tuples: Tuples) -> Tensor:
        """The query vectors of tuples of one arity [n, d]."""
        raise NotImplementedError(f"{self.name} scores without query vectors")

    def entity_vectors(self) -> Tensor:
        """The vectors that queries are multiplied with [E, d]."""
        return self.entity

    def score_tuples(self, tuples: Tuples) -> Tensor:
        """The scores [n] of whole tuples, of an arity that training saw, whose subject is marked as masked."""
        subjects = nn.functional.embedding(tuples.entities[:, 0], self.entity_vectors())
        return (self.encode_tuples([tuples]) * subjects).sum(1)

    def _grow(self, name: str, arity: int | None, shape: tuple[int, ...], start: Start) -> None:
        self._grown[name] = (arity, shape, start)
        self.register_buffer(name, torch.zeros(0))

    def _allocate(self, keys: Tensor) -> None:
        """Make the parameters for schemas with these keys; those of the right shape stay what they are."""
        self.arities = frozenset(arities_of(keys).tolist())
        for name, (arity, shape, _) in self._grown.items():
            old, exists = getattr(self, name), arity is None or arity in self.arities
            wanted = ((len(keys), *shape) if arity is None else shape) if exists else (0,)
            if old.shape != wanted:
                delattr(self, name)
                new = old.new_zeros(wanted)
                if exists:
                    self.register_parameter(name, nn.Parameter(new))
                else:
                    self.register_buffer(name, new)

    def _load_from_state_dict(self, state_dict: Mapping[str, Any], prefix: str, *others: Any) -> None:
        keys = state_dict.get(f"{prefix}schemas.keys")
        if keys is not None:
            own = self.schemas
            own.keys, own.codes = own.keys.new_zeros(len(keys), own.keys.shape[1]), own.codes.new_zeros(len(keys))
            self._allocate(keys)
        super()._load_from_state_dict(state_dict, prefix, *others)
