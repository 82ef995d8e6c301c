"""Instances: every element of every fact masked once an epoch, in batches that run across the borders of epochs.

The batch of a step follows from the table, the seed and the number of the step alone, so a resumed run needs no memory
of what came before.
"""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch

from nary.facts import FactTable, Role
from nary.facts.table import number_rows
from nary.models.batch import Batch, Group
from nary.training.lesson import Lesson
from nary.training.settings import TrainingSettings

_Numbers = npt.NDArray[np.int64]


class Instances:
    """The masked instances of a table of facts, a batch a step.

    Instances are numbered fact after fact, lowest arity first, and within a fact by the masked column. Merged ones are
    known by the first of them: it stands for all that differ from it in nothing but the answer. Only elements of
    ``roles`` are masked. An objective that judges whole facts has one instance a fact, whatever that masks.
    """

    def __init__(self, table: FactTable, settings: TrainingSettings, roles: Collection[Role] = frozenset(Role)) -> None:
        self.table = table
        self.batch = settings.batch_size
        self.seed = settings.seed
        self.shuffle = settings.shuffle
        sizes = [len(block) for block in table.blocks]
        self._block = np.repeat(np.arange(len(sizes)), sizes)  # of each fact
        self._row = np.concatenate([np.arange(size) for size in sizes])
        masked = {Role.RELATION} if settings.loss == "corruption_bce" else roles
        columns = [[i for i, role in enumerate(block.roles) if role in masked] for block in table.blocks]
        self._masks = np.repeat([len(own) for own in columns], sizes)
        self._first = np.cumsum(self._masks) - self._masks  # the first instance of each fact
        self._fact = np.repeat(np.arange(self._masks.size), self._masks)  # of each instance
        self._column = _joined(np.tile(own, size) for own, size in zip(columns, sizes, strict=True))
        self._answer = _joined(block.ids[:, own].reshape(-1) for own, block in zip(columns, table.blocks, strict=True))
        weights = {Role.VALUE: settings.value_weight}
        self._weight = np.concatenate(
            [
                np.tile([weights.get(block.roles[i], 1.0) for i in own], size)
                for own, block, size in zip(columns, table.blocks, sizes, strict=True)
            ]
        ).astype(np.float32)
        question = self._questions(columns) if settings.merge_queries else np.arange(self._fact.size)
        self._by_question = np.argsort(question, kind="stable")  # instances; those of one question side by side
        self._asked = np.bincount(question)  # how often each question is
        self._start = np.cumsum(self._asked) - self._asked
        first = self._by_question[self._start]
        relations = _joined(
            np.tile(np.isin(own, block.relation_columns), len(block))
            for own, block in zip(columns, table.blocks, strict=True)
        ).astype(bool)
        self._relation_questions = np.flatnonzero(relations[first])
        self._entity_questions = np.flatnonzero(~relations[first])
        self._visited = round(settings.relation_fraction * self._relation_questions.size)
        self._order = lru_cache(maxsize=2)(self._shuffled)  # where two epochs meet, a batch needs both

    def __len__(self) -> int:
        """The number of instances in an epoch."""
        return self._entity_questions.size + self._visited

    def steps(self, epochs: int) -> int:
        """How many whole batches so many epochs have."""
        return epochs * len(self) // self.batch

    def at(self, step: int) -> Lesson:
        """What the step learns from, counted from 0; the groups of its batch are ordered by arity."""
        parts = []
        start, end = step * self.batch, (step + 1) * self.batch
        while start < end:
            epoch, first = divmod(start, len(self))
            parts.append(self._order(epoch)[first : first + end - start])
            start += parts[-1].size
        return self._lesson(np.concatenate(parts))

    def _questions(self, columns: Sequence[Sequence[int]]) -> _Numbers:
        """The number of the question that each instance asks: equal for those that differ only in the answer."""
        found, count = [], 0
        for block, own in zip(self.table.blocks, columns, strict=True):
            numbers = np.empty((len(block), len(own)), np.int64)
            for place, column in enumerate(own):
                numbers[:, place] = count + number_rows([np.delete(block.ids, column, axis=1)])[0]
                count = numbers[:, place].max() + 1
            found.append(numbers.reshape(-1))
        return np.concatenate(found)

    def _shuffled(self, epoch: int) -> _Numbers:
        """The order of the questions in an epoch."""
        generator = np.random.PCG64([self.seed, epoch])  # its raw words do not change with numpy's version

        def shuffled(count: int) -> _Numbers:
            return np.argsort(generator.random_raw(count), kind="stable")

        if self.shuffle == "facts":
            order = shuffled(self._masks.size)
            masks = self._masks[order]  # the masks of one fact stay side by side
            return np.repeat(self._first[order] - (np.cumsum(masks) - masks), masks) + np.arange(len(self))
        chosen = shuffled(self._relation_questions.size)[: self._visited]
        questions = np.concatenate([self._entity_questions, self._relation_questions[chosen]])
        return questions[shuffled(questions.size)]

    def _lesson(self, questions: _Numbers) -> Lesson:
        blocks = self._block[self._fact[self._by_question[self._start[questions]]]]
        questions = questions[np.argsort(blocks, kind="stable")]
        asked = self._asked[questions]
        rows = np.repeat(np.arange(questions.size), asked)
        places = np.arange(rows.size) + np.repeat(self._start[questions] - (np.cumsum(asked) - asked), asked)
        instances = self._by_question[places]
        answers = self._answer[instances]
        # an epoch of merged questions counts as much as it has questions
        weights = self._weight[instances] * np.float32(self._asked.size / self._fact.size)
        return Lesson(
            self._batch(self._by_question[self._start[questions]]),
            *(torch.from_numpy(part) for part in (rows, answers, weights)),
        )

    def _batch(self, instances: _Numbers) -> Batch:
        facts, columns = self._fact[instances], self._column[instances]
        groups = []
        for number, block in enumerate(self.table.blocks):
            own = np.flatnonzero(self._block[facts] == number)
            if own.size:
                ids = block.ids[self._row[facts[own]]].astype(np.int64)
                groups.append(Group(torch.from_numpy(ids), torch.from_numpy(columns[own])))
        return Batch(groups)


def _joined(parts: Iterable[npt.NDArray[np.generic]]) -> _Numbers:
    return np.concatenate(list(parts)).astype(np.int64)
