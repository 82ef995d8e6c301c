"""Models with scores fixed beforehand, and facts to rank with them."""

from collections.abc import Sequence

import numpy as np
import torch
from contracts.info import info_of
from hypothesis import strategies as st
from torch import Tensor

from nary.config import Settings
from nary.data.dataset import Dataset
from nary.facts import Fact, FactTable, Role, Vocabulary
from nary.models.base import Kind, Model
from nary.models.batch import Batch


class Constant(Model):
    """The same scores whatever is asked."""

    name = "constant"

    def __init__(
        self, entities: Sequence[float], relations: Sequence[float], dtype: torch.dtype = torch.float32
    ) -> None:
        super().__init__(Settings(), info_of())
        self.scores = {"entity": torch.tensor(entities, dtype=dtype), "relation": torch.tensor(relations, dtype=dtype)}

    def score(self, batch: Batch, kind: Kind) -> Tensor:
        return self.scores[kind].repeat(len(batch), 1)


class Scattered(Model):
    """Scores from a small range, so that ties abound, which follow from all that is not masked."""

    name = "scattered"

    def __init__(self, vocabulary: Vocabulary, seed: int = 0, levels: int = 4, tables: int = 257) -> None:
        super().__init__(Settings(), info_of())
        random = np.random.default_rng(seed)
        self.register_buffer("weights", torch.from_numpy(random.integers(1, 1 << 30, 100)))
        for kind, names in (("entity", vocabulary.entities), ("relation", vocabulary.relations)):
            scores = random.integers(0, levels, (tables, len(names))).astype(np.float32)
            self.register_buffer(kind, torch.from_numpy(scores))

    def score(self, batch: Batch, kind: Kind) -> Tensor:
        table = getattr(self, kind)
        chosen = []
        for group in batch.groups:
            seen = group.ids.scatter(1, group.columns[:, None], -1) + 2
            chosen.append(((seen * self.weights[: seen.shape[1]]).sum(1) + 7 * group.columns) % len(table))
        return table[torch.cat(chosen)]


class SubjectsOnly(Scattered):
    name = "subjects only"
    roles = frozenset({Role.SUBJECT})


def vocabulary_of(facts: Sequence[Fact]) -> Vocabulary:
    entities = [name for f in facts for name in (f.subject, f.object, *(value for _, value in f.qualifiers))]
    relations = [name for f in facts for name in (f.relation, *(attribute for attribute, _ in f.qualifiers))]
    return Vocabulary.of(entities, relations)


def dataset_of(**splits: Sequence[Fact]) -> Dataset:
    vocabulary = vocabulary_of([fact for facts in splits.values() for fact in facts])
    return Dataset(
        "toy", vocabulary, {split: FactTable.from_facts(facts, vocabulary) for split, facts in splits.items()}
    )


def random_facts(count: int, seed: int) -> list[Fact]:
    """Few names, so that queries share contexts, attributes repeat and values are equal."""
    random = np.random.default_rng(seed)

    def entity() -> str:
        return f"e{random.integers(9)}"

    def pairs() -> list[tuple[str, str]]:
        return [(f"a{random.integers(3)}", entity()) for _ in range(random.choice([0, 0, 1, 2, 2, 3]))]

    return [Fact(entity(), f"r{random.integers(2)}", entity(), pairs()) for _ in range(count)]


facts_strategy = st.lists(
    st.builds(
        Fact,
        st.sampled_from("AB"),
        st.sampled_from("rs"),
        st.sampled_from("BC"),
        st.lists(st.tuples(st.sampled_from("st"), st.sampled_from("CDE")), max_size=3),
    ),
    min_size=2,
    max_size=25,
)

# Five facts, ranked by hand in the tests. By score: Cy 4, Dee 4, Eve 3, Ben 2, Ada 1, Fay 1; sees 1, with 1, likes 0.
TRAIN = [
    Fact("Ada", "likes", "Cy"),
    Fact("Ada", "likes", "Dee", [("with", "Fay")]),
    Fact("Ada", "likes", "Ben", [("with", "Cy"), ("with", "Eve")]),
]
PLAIN = Fact("Ada", "likes", "Ben")
LONG = Fact("Ada", "likes", "Ben", [("with", "Eve"), ("with", "Fay")])


def five_facts() -> tuple[Dataset, Constant]:
    found = dataset_of(train=TRAIN, test=[LONG, PLAIN])
    names = Vocabulary.of(found.vocabulary.entities, (*found.vocabulary.relations, "sees"))
    splits = {"train": FactTable.from_facts(TRAIN, names), "test": FactTable.from_facts([LONG, PLAIN], names)}
    return Dataset("five", names, splits), Constant([1, 2, 4, 4, 3, 1], [0, 1, 1])
