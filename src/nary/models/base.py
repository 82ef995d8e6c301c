"""The base class of all models, and the dataset information that a model is built from."""

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
"""The rows of a table with one row for each entity, or for each relation; see :meth:`Model.vocabulary_tables`."""
_FEW = 16  # facts up to which one thread encodes faster than two


@dataclass(frozen=True, eq=False)
class DatasetInfo:
    """The dataset information that a model is built from: sizes, and the facts to train on."""

    num_entities: int
    num_relations: int
    max_arity: int
    """The largest arity in all splits."""
    facts: FactTable
    scales: Scales = field(default_factory=lambda: Scales.of(()))
    """The literals among the entities, as numbers."""
    workers: Workers = ALONE
    """The worker that the model is for: the entity tables of the model contain only the rows of this worker."""

    @classmethod
    def from_dataset(
        cls, dataset: Dataset, train_on: Sequence[str] = ("train",), qualifiers: bool = True
    ) -> "DatasetInfo":
        """The information for a model that is trained on the splits ``train_on`` of ``dataset``.

        With ``qualifiers=False``, ``dataset`` must contain primary triples only; duplicates are trained on once.
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
        """The number of entities with rows in the tables of a new model."""
        return self.workers.num_taken(self.num_entities)

    def num_candidates(self, kind: Kind) -> int:
        """The number of entities or relations."""
        return self.num_entities if kind == "entity" else self.num_relations


class Model(nn.Module):
    """A model that scores every candidate for the masked element of a fact.

    A model either implements :meth:`encode` and :meth:`candidates`, whose product gives the scores, or overrides
    :meth:`score` if it must see fact and candidate together. ``training.entity_lr_scale`` applies to parameters whose
    names begin with ``entity``; they have one row per entity.

    Build everything in ``__init__``. Store what you derive from ``info.facts`` in buffers with ``persistent=False``, or
    not in buffers at all: weight files contain only parameters and running statistics. Models are also built on the
    meta device, to check the shapes in a weight file before memory is allocated. So use numpy or
    ``torch.device("cpu")`` to compute what depends on the facts.
    """

    name: ClassVar[str]
    """The name of the model in recipes, on the command line and in model folders."""
    settings_class: ClassVar[type[Settings]]
    """The class of the settings, ``[model]`` in a recipe. The default of its field ``name`` is the model's name."""
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
    """Whether more than one element of a fact can be missing (``Group.hidden``)."""

    supports_qualifier_dropout: ClassVar[bool] = True
    """Whether the model can be trained with ``training.qualifier_dropout``."""

    supports_longer_facts: ClassVar[bool] = True
    """Whether the scores of a fact stay the same if the model is built for facts with more qualifiers."""

    def __init__(self, settings: Settings, info: DatasetInfo) -> None:
        super().__init__()
        self.settings = settings
        self.info = info

    @classmethod
    def roles_of(cls, settings: Settings) -> frozenset[Role]:
        """The roles that a model with these ``settings`` can predict."""
        return cls.roles

    def encode(self, batch: Batch) -> Tensor:
        """A query vector for each masked fact [B, d]."""
        raise NotImplementedError(f"{self.name} scores without query vectors")

    def candidates(self, kind: Kind) -> tuple[Tensor, Tensor]:
        """The vectors [C, d] and biases [C] of all candidates."""
        raise NotImplementedError(f"{self.name} scores without a table of candidates")

    def score(self, batch: Batch, kind: Kind) -> Tensor:
        """The scores [B, C] of all candidates. In every fact of the batch, an element of this ``kind`` is masked."""
        return score_candidates(self._query_vectors(batch), *self.candidates(kind))

    def score_slices(self, batch: Batch, kind: Kind, size: int) -> Iterator[Tensor]:
        """The same scores as :meth:`score`, for at most ``size`` candidates at a time."""
        if not self.has_query_vectors:
            yield from torch.split(self.score(batch, kind), size, 1)
            return
        queries, (vectors, bias) = self._query_vectors(batch), self.candidates(kind)
        for part, part_bias in zip(torch.split(vectors, size), torch.split(bias, size), strict=True):
            yield score_candidates(queries, part, part_bias)

    @property
    def has_query_vectors(self) -> bool:
        """Whether :meth:`score` multiplies the results of :meth:`encode` and :meth:`candidates`."""
        return type(self).score is Model.score

    def _query_vectors(self, batch: Batch) -> Tensor:
        with one_thread() if len(batch) <= _FEW else nullcontext():
            return self.encode(batch)

    def vocabulary_tables(self) -> dict[str, tuple[Kind, ...]]:
        """The parameters whose rows represent entities or relations: their names, and the kinds of their rows in order.

        For example, ``("relation", "relation")`` means one row per relation, followed by another row per relation. All
        other rows come last. By default, these are all parameters whose names begin with ``entity``, and the
        parameters of the model itself, not of its layers, whose names begin with ``relation``.
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
        """The parameters with one row per entity: their names, and the row of the first entity in each.

        Empty if :meth:`encode` or :meth:`candidates` mixes the rows of different entities and therefore needs them all.
        """
        tables = self.vocabulary_tables()
        return {
            name: kinds.index("entity") * self.info.num_relations for name, kinds in tables.items() if "entity" in kinds
        }

    @property
    def learns_new_rows(self) -> bool:
        """Whether the rows of an added entity can be trained alone, because they do not affect other entities."""
        return bool(self.entity_tables())

    @property
    def embeds_values(self) -> bool:
        """Whether a number or date that does not occur in the training facts is embedded by its value."""
        return False

    def row_places(self, name: str, smaller: "Model") -> Tensor:
        """Where the rows [n] of the same parameter of a model with a ``smaller`` vocabulary are in this parameter.

        The smaller vocabulary must be the beginning of this vocabulary.
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
        """The scores [n] of whole facts of one arity [n, 2m+3], for losses with negative sampling."""
        raise NotImplementedError(f"{self.name} does not score whole facts")

    def group_scores(self, groups: Sequence[Tensor]) -> list[Tensor]:
        """The scores of whole facts, group by group. Override this to normalize over the whole batch."""
        return [self.fact_scores(ids) for ids in groups]

    def extra_loss(self, batch: Batch) -> Tensor | None:
        """A term to add to the loss, or None."""
        return None

    def alternation(self) -> Alternation | None:
        """Losses that alternate with the main loss, or None. Called once before training starts."""
        return None

    def post_step(self) -> None:
        """Called after each optimizer step, for example to project parameters onto their constraints."""

    def tables(self, vocabulary: Vocabulary) -> "dict[str, pl.DataFrame]":
        """Tables for people to read, by name. A model folder stores each as a Parquet file; loading ignores them."""
        return {}

    def attention(self, batch: Batch) -> Tensor | None:
        """The attention weights [n, L, T, T] between the elements of facts of one arity, or None without attention."""
        return None
