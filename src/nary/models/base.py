"""The base class of all models, and what a model is built from."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import torch
from torch import Tensor, nn

from nary.config import Settings
from nary.data.dataset import Dataset
from nary.data.transforms.duplicates import drop_duplicates
from nary.facts import FactTable, Role, Vocabulary
from nary.facts.scales import Scales
from nary.models.alternation import Alternation
from nary.models.batch import Batch
from nary.models.products import score_candidates
from nary.threads import one_thread
from nary.workers import ALONE, Workers

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["entity", "relation"]
"""The two kinds of candidates: all entities, or all relations."""
ENTITY_ROWS: tuple[Kind, ...] = ("entity",)
RELATION_ROWS: tuple[Kind, ...] = ("relation",)
"""The rows of a table with one for each entity, or for each relation; see :meth:`Model.vocabulary_tables`."""
_FEW = 16  # facts up to which one thread encodes faster than two


@dataclass(frozen=True, eq=False)
class DatasetInfo:
    """What a model is built from: the sizes of a dataset, and the facts that the model learns from."""

    num_entities: int
    num_relations: int
    max_arity: int
    """Over all splits."""
    facts: FactTable
    scales: Scales = field(default_factory=lambda: Scales.of(()))
    """The literals among the entities, as numbers."""
    workers: Workers = ALONE
    """Of several, the model is for this one: of the rows of entities it has those that this worker takes."""

    @classmethod
    def from_dataset(
        cls, dataset: Dataset, train_on: Sequence[str] = ("train",), qualifiers: bool = True
    ) -> "DatasetInfo":
        """The information for a model that learns from the splits ``train_on`` of ``dataset``.

        With ``qualifiers=False``, ``dataset`` holds primary triples only, and equal triples are trained on once.
        """
        facts = FactTable.concatenate([dataset[split] for split in train_on])
        arities = [block.arity for table in dataset.splits.values() for block in table.blocks]
        return cls(
            len(dataset.vocabulary.entities),
            len(dataset.vocabulary.relations),
            max(arities),
            facts if qualifiers else drop_duplicates(facts),
            dataset.vocabulary.scales,
        )

    @property
    def num_entity_rows(self) -> int:
        """How many entities have rows in the tables of a new model."""
        return self.workers.num_taken(self.num_entities)

    def num_candidates(self, kind: Kind) -> int:
        """The number of entities or of relations."""
        return self.num_entities if kind == "entity" else self.num_relations


class Model(nn.Module):
    """A model that scores every candidate for the masked element of a fact.

    A model either implements :meth:`encode` and :meth:`candidates`, whose product are the scores, or overrides
    :meth:`score` if it must see fact and candidate together. ``training.entity_lr_scale`` applies to the parameters
    whose names begin with ``entity``; they have a row for each entity.

    Everything is built in ``__init__``. What follows from ``info.facts`` is a buffer with ``persistent=False``, or no
    buffer at all: weight files hold parameters and running statistics only. Models are also built on the meta device,
    to check the shapes in a weight file before memory is allocated, so compute what depends on the facts with numpy or
    under ``torch.device("cpu")``.
    """

    name: ClassVar[str]
    """By which recipes, the command line and model folders know the model."""
    settings_class: ClassVar[type[Settings]]
    """The settings, ``[model]`` in a recipe. Their field ``name`` has the name of the model as its default."""
    family: ClassVar[str] = "other"
    description: ClassVar[str] = ""
    """The idea in a few words."""
    reference: ClassVar[str] = ""
    """The publication."""
    losses: ClassVar[frozenset[str]] = frozenset({"cross_entropy", "sampled_softmax", "softmax_bce"})
    """The losses that the model can be trained with."""
    roles: frozenset[Role] = frozenset(Role)
    """The roles that the model can predict."""
    supports_multiple_masks: bool = False
    """Whether more than one element of a fact may be missing (``Group.hidden``)."""

    supports_qualifier_dropout: ClassVar[bool] = True
    """Whether it can learn from facts with some of their qualifiers left out (``training.qualifier_dropout``)."""

    supports_longer_facts: ClassVar[bool] = True
    """Whether its scores of a fact are the same if it was built for facts with more qualifiers."""

    def __init__(self, settings: Settings, info: DatasetInfo) -> None:
        super().__init__()
        self.settings = settings
        self.info = info

    @classmethod
    def roles_of(cls, settings: Settings) -> frozenset[Role]:
        """The roles that a model with these settings can predict."""
        return cls.roles

    def encode(self, batch: Batch) -> Tensor:
        """A query vector for each masked fact [B, d]."""
        raise NotImplementedError(f"{self.name} scores without query vectors")

    def candidates(self, kind: Kind) -> tuple[Tensor, Tensor]:
        """A vector [C, d] and a bias [C] for each candidate."""
        raise NotImplementedError(f"{self.name} scores without a table of candidates")

    def score(self, batch: Batch, kind: Kind) -> Tensor:
        """Scores [B, C] of all candidates; every fact of the batch has an element of this ``kind`` masked."""
        return score_candidates(self._query_vectors(batch), *self.candidates(kind))

    def score_slices(self, batch: Batch, kind: Kind, size: int) -> Iterator[Tensor]:
        """The same scores, of at most ``size`` candidates at a time."""
        if not self.has_query_vectors:
            yield from torch.split(self.score(batch, kind), size, 1)
            return
        queries, (vectors, bias) = self._query_vectors(batch), self.candidates(kind)
        for part, part_bias in zip(torch.split(vectors, size), torch.split(bias, size), strict=True):
            yield score_candidates(queries, part, part_bias)

    @property
    def has_query_vectors(self) -> bool:
        """Whether :meth:`score` is the product of what :meth:`encode` and :meth:`candidates` return."""
        return type(self).score is Model.score

    def _query_vectors(self, batch: Batch) -> Tensor:
        with one_thread() if len(batch) <= _FEW else nullcontext():
            return self.encode(batch)

    def vocabulary_tables(self) -> dict[str, tuple[Kind, ...]]:
        """The names of the parameters whose rows stand for names, and what the rows are: one for each entity, then ...

        ``("relation", "relation")`` has a row for each relation, then another for each. Rows for nothing come last. By
        default they are the parameters whose names begin with ``entity``, and those of the model itself, not of its
        layers, whose names begin with ``relation``.
        """
        tables: dict[str, tuple[Kind, ...]] = {}
        for name, parameter in self.named_parameters():
            last = name.rpartition(".")[2]
            if last.startswith("entity"):
                tables[name] = ENTITY_ROWS
            elif name.startswith("relation"):
                tables[name] = RELATION_ROWS * (len(parameter) // self.info.num_relations)
        return tables

    def entity_tables(self) -> dict[str, int]:
        """The names of the parameters with a row for each entity, and the row of the first entity in each.

        Empty if :meth:`encode` or :meth:`candidates` mixes the rows of different entities, so that it needs them all.
        """
        tables = self.vocabulary_tables()
        return {
            name: kinds.index("entity") * self.info.num_relations for name, kinds in tables.items() if "entity" in kinds
        }

    @property
    def learns_new_rows(self) -> bool:
        """Whether an entity that is added can learn its rows alone: they do not change what others are."""
        return bool(self.entity_tables())

    @property
    def embeds_values(self) -> bool:
        """Whether a number or date that is not in the training facts is embedded by its value."""
        return False

    def row_places(self, name: str, smaller: "Model") -> Tensor:
        """The rows of a parameter for the rows [n] of the same parameter of a model with a smaller vocabulary.

        The names of the smaller vocabulary are the first ones of this vocabulary.
        """
        places, start, used = [], 0, 0
        for kind in self.vocabulary_tables().get(name, ()):
            size = smaller.info.num_candidates(kind)
            places.append(torch.arange(start, start + size))
            start += self.info.num_candidates(kind)
            used += size
        others = len(smaller.get_parameter(name)) - used
        return torch.cat([*places, torch.arange(start, start + others)])

    def fact_scores(self, ids: Tensor) -> Tensor:
        """Scores [n] of whole facts of one arity [n, 2m+3], for losses with negative samples."""
        raise NotImplementedError(f"{self.name} does not score whole facts")

    def group_scores(self, groups: Sequence[Tensor]) -> list[Tensor]:
        """Scores of whole facts, group by group; override it to normalize over the whole batch."""
        return [self.fact_scores(ids) for ids in groups]

    def extra_loss(self, batch: Batch) -> Tensor | None:
        """A term to add to the loss, if the model has one."""
        return None

    def alternation(self) -> Alternation | None:
        """Other losses that alternate with the main one, if there are any; asked once, before training starts."""
        return None

    def post_step(self) -> None:
        """Called after each optimizer step, for example to project parameters back to their constraints."""

    def tables(self, vocabulary: Vocabulary) -> "dict[str, pl.DataFrame]":
        """Tables by name for people to read; a model folder holds each as a Parquet file. They are not loaded again."""
        return {}

    def attention(self, batch: Batch) -> Tensor | None:
        """Attention weights between the elements of facts of one arity [n, L, T, T]; None without attention."""
        return None
