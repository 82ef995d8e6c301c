"""What every model must keep to: inherit :class:`ModelContract` and say how the model is made."""

import os
import signal
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from runs.small import small_data, small_recipe, small_run, weights
from safetensors.torch import load_file
from training.small import OnStep, loss_of

from nary.data.dataset import Dataset
from nary.facts import FactTable
from nary.facts.layout import FIRST_ATTRIBUTE
from nary.inference.folder import save_weights, sizes_of
from nary.models.base import Kind, Model
from nary.models.batch import Batch, Group
from nary.models.registry import find
from nary.runs import InterruptedRun, resume_run, start_run, train_run
from nary.training.batches import TrainingBatch


def kinds_of(model: Model) -> list[Kind]:
    """The kinds of candidates that the model predicts."""
    kinds: tuple[Kind, ...] = ("entity", "relation")
    return [kind for kind in kinds if any(role.is_entity == (kind == "entity") for role in model.roles)]


def candidates_of(data: Dataset, kind: Kind) -> int:
    return sizes_of(data).entities if kind == "entity" else sizes_of(data).relations


class ModelContract:
    """The tests; ``name`` and ``settings`` say which model, the rest what it promises."""

    name: ClassVar[str]
    settings: ClassVar[dict[str, Any]] = {}
    order_free: ClassVar[bool] = True
    """Whether the order of qualifiers changes nothing."""
    learns: ClassVar[dict[str, Any] | None] = None
    """Recipe keys with which twenty facts are learned by heart; None: the model cannot."""
    loss: ClassVar[str] = "cross_entropy"
    """What it can be trained with."""

    @pytest.fixture
    def data(self) -> Dataset:
        return small_data()

    @pytest.fixture
    def model(self, data: Dataset) -> Model:
        torch.manual_seed(3)
        entry = find(self.name)
        model = entry.make(entry.settings(**self.settings), sizes_of(data))
        model.prepare(data.train)
        with torch.no_grad():
            for parameter in model.parameters():  # away from the zeros that biases start with
                parameter += 0.1 * torch.randn_like(parameter)
        return model.eval()

    def test_scores_have_a_row_a_fact_and_a_column_a_candidate(self, model: Model, data: Dataset) -> None:
        for kind in kinds_of(model):
            batch = asking(data.train, kind)
            scores = model.score(batch, kind)
            assert scores.shape == (len(batch), candidates_of(data, kind))
            assert scores.isfinite().all()

    def test_in_chunks_or_whole_is_the_same(self, model: Model, data: Dataset) -> None:
        for kind in kinds_of(model):
            batch = asking(data.train, kind)
            whole = model.score(batch, kind)
            single = [
                model.score(Batch([Group(group.ids[i : i + 1], group.columns[i : i + 1])]), kind)
                for group in batch.groups
                for i in range(len(group.columns))
            ]
            torch.testing.assert_close(torch.cat(single), whole, rtol=1e-4, atol=1e-5)

    def test_scores_are_the_same_where_no_gradients_are_taken(self, model: Model, data: Dataset) -> None:
        for kind in kinds_of(model):
            batch = asking(data.train, kind)
            with torch.no_grad():
                scores = model.score(batch, kind)
            torch.testing.assert_close(scores, model.score(batch, kind), rtol=1e-4, atol=1e-5)

    def test_the_answer_is_never_looked_at(self, model: Model, data: Dataset) -> None:
        for kind in kinds_of(model):
            batch, candidates = asking(data.train, kind), candidates_of(data, kind)
            others = [
                Group(
                    group.ids.scatter(1, group.columns[:, None], (group.answers[:, None] + 1) % candidates),
                    group.columns,
                )
                for group in batch.groups
            ]
            assert not torch.equal(Batch(others).answers, batch.answers)
            assert torch.equal(model.score(Batch(others), kind), model.score(batch, kind))

    def test_the_order_of_qualifiers_means_nothing(self, model: Model, data: Dataset) -> None:
        if not self.order_free:
            pytest.skip("the model makes no such promise")
        for kind in kinds_of(model):
            batch = asking(data.train, kind)
            assert max(group.qualifiers for group in batch.groups) > 1
            turned = Batch([_turned(group) for group in batch.groups])
            torch.testing.assert_close(model.score(turned, kind), model.score(batch, kind), rtol=1e-4, atol=1e-5)

    def test_gradients_reach_every_parameter(self, model: Model, data: Dataset) -> None:
        if not list(model.parameters()):
            pytest.skip("the model has no parameters")
        batch = Batch([group for kind in kinds_of(model) for group in asking(data.train, kind).groups])
        loss = loss_of(self.loss, data.train, model.sizes)
        loss(model.train(), TrainingBatch.from_batch(batch)).backward()  # type: ignore[no-untyped-call]
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None, name
            assert parameter.grad.abs().max() > 0, name

    def test_the_vectors_of_entities_go_by_that_name(self, model: Model) -> None:
        """``training.entity_lr_scale`` finds them by it."""
        if not list(model.parameters()):
            pytest.skip("the model has no parameters")
        own = [own for name, own in model.named_parameters() if name.rpartition(".")[2].startswith("entity")]
        assert own
        assert all(len(parameter) >= model.info.num_entities for parameter in own)

    def test_saved_and_loaded_scores_are_equal_to_the_last_bit(
        self, model: Model, data: Dataset, tmp_path: Path
    ) -> None:
        save_weights(tmp_path, model)
        entry = find(self.name)
        again = entry.make(entry.settings(**self.settings), sizes_of(data))
        again.load_state_dict(load_file(tmp_path / "model.safetensors"))
        for kind in kinds_of(model):
            batch = asking(data.train, kind)
            assert torch.equal(again.eval().score(batch, kind), model.score(batch, kind))

    def test_twenty_facts_are_learned_by_heart(self, tmp_path: Path) -> None:
        if self.learns is None:
            pytest.skip("the model cannot")
        data = small_data(25)
        data = Dataset("twenty", data.vocabulary, {"train": data.facts.take(np.arange(20)), "test": data.test})
        run = small_run(tmp_path / "run", self.name, data, loss__name=self.loss, **self.learns)
        metrics = run.evaluate("train").metrics
        for kind in kinds_of(run.model):
            assert metrics[kind]["mrr"] > 0.95

    def test_resumed_runs_are_equal_to_the_last_bit(self, data: Dataset, tmp_path: Path) -> None:
        settings = {f"model__{key}": value for key, value in self.settings.items()}
        recipe = small_recipe(data, self.name, loss__name=self.loss, **settings)
        whole = train_run(start_run(data, recipe, tmp_path / "whole"))
        run, interrupted = start_run(data, recipe, tmp_path / "parts"), 0
        while True:
            try:
                train_run(run, [_interrupting()])
                break
            except InterruptedRun:
                interrupted += 1
                run = resume_run(tmp_path / "parts")
        assert interrupted == max(0, whole.steps - 1) // 7
        assert weights(tmp_path / "parts") == weights(tmp_path / "whole")


def asking(table: FactTable, kind: Kind) -> Batch:
    """Every element of every fact that is an entity, or a relation."""
    groups = []
    for block in table.blocks:
        columns = block.entity_columns if kind == "entity" else block.relation_columns
        ids = torch.from_numpy(block.ids.astype(np.int64))
        groups.append(Group(ids.repeat_interleave(len(columns), 0), torch.tensor(columns).repeat(len(block))))
    return Batch(groups)


def _turned(group: Group) -> Group:
    """The same masked facts with their qualifiers in the opposite order."""
    m = group.qualifiers
    first, value = FIRST_ATTRIBUTE, FIRST_ATTRIBUTE + m
    order = torch.tensor([0, 1, 2, *reversed(range(first, value)), *reversed(range(value, value + m))])
    return Group(group.ids[:, order], order[group.columns])  # the order is its own inverse


def _interrupting() -> OnStep:
    """Presses Ctrl-C after the seventh step."""
    heard = []

    def listen(report: object) -> None:
        heard.append(report)
        if len(heard) == 7:
            os.kill(os.getpid(), signal.SIGINT)

    return OnStep(listen)
