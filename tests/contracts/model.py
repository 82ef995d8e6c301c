"""What every model must keep to: inherit :class:`ModelContract` and say how the model is made."""

import os
import signal
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from contracts.losses import loss_on
from runs.small import small_data, small_recipe, small_run, train_in, weights
from safetensors.torch import load_file
from training.small import OnStep

from nary.data.dataset import Dataset
from nary.errors import SettingError
from nary.facts import Fact, FactTable, Position
from nary.facts.layout import FIRST_ATTRIBUTE
from nary.inference.folder import save_weights
from nary.models.base import DatasetInfo, Kind, Model
from nary.models.batch import Batch, Group
from nary.models.registry import MODELS
from nary.recipe import Recipe
from nary.runs import InterruptedRun, TrainedModel, fit_epochs, load_model, resume
from nary.runs.updating import update
from nary.training.batches import TrainingBatch
from nary.training.rows import EntityTables, entities_used, renumber
from nary.training.sampled_softmax import SampledSoftmaxSettings
from nary.training.settings import LOSSES


def kinds_of(model: Model) -> list[Kind]:
    """The kinds of candidates that the model predicts."""
    kinds: tuple[Kind, ...] = ("entity", "relation")
    return [kind for kind in kinds if any(role.is_entity == (kind == "entity") for role in model.roles)]


def candidates_of(data: Dataset, kind: Kind) -> int:
    return DatasetInfo.from_dataset(data).num_candidates(kind)


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
    marks_partial: ClassVar[bool] = False
    """Whether it tells facts that may have further qualifiers from whole ones."""

    depends_on_facts: ClassVar[bool] = False
    """Whether scores depend on which facts the model was built from, and not on its weights alone."""

    @pytest.fixture
    def data(self) -> Dataset:
        return small_data()

    def build(self, data: Dataset) -> Model:
        model_class = MODELS.get(self.name)
        return model_class(model_class.settings_class(**self.settings), DatasetInfo.from_dataset(data))

    @pytest.fixture
    def model(self, data: Dataset) -> Model:
        torch.manual_seed(3)
        model = self.build(data)
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

    def test_facts_that_may_have_further_qualifiers(self, model: Model, data: Dataset) -> None:
        for kind in kinds_of(model):
            whole = asking(data.train, kind)
            batch = half_partial(whole)
            partial = torch.cat([group.partial for group in batch.groups if group.partial is not None])
            scores, of_whole = model.score(batch, kind), model.score(whole, kind)
            torch.testing.assert_close(scores[~partial], of_whole[~partial], rtol=1e-4, atol=1e-5)
            if self.marks_partial:
                assert (scores[partial] - of_whole[partial]).abs().amax(1).min() > 1e-4
            else:
                assert torch.equal(scores, of_whole)

    def test_gradients_reach_every_parameter(self, model: Model, data: Dataset) -> None:
        if not list(model.parameters()):
            pytest.skip("the model has no parameters")
        batch = half_partial(Batch([group for kind in kinds_of(model) for group in asking(data.train, kind).groups]))
        loss_on(model.train(), batch, loss=self.loss).backward()  # type: ignore[no-untyped-call]
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None, name
            assert parameter.grad.abs().max() > 0, name

    def test_the_vectors_of_entities_go_by_that_name(self, model: Model) -> None:
        """``training.entity_lr_scale`` finds them by it."""
        if not list(model.parameters()):
            pytest.skip("the model has no parameters")
        tables = [table for name, table in model.named_parameters() if name.rpartition(".")[2].startswith("entity")]
        assert tables
        assert all(len(table) >= model.info.num_entities for table in tables)

    def test_a_step_by_rows_is_one_on_whole_tables(self, model: Model, data: Dataset) -> None:
        """Loss and gradients, where the model can be trained with a sample of the entities."""
        if "sampled_softmax" not in model.losses or not model.entity_tables():
            pytest.skip("the model needs all entities")
        loss = LOSSES.get("sampled_softmax")(SampledSoftmaxSettings(num_candidates=3), model.info)
        batch = TrainingBatch.from_batch(Batch([_few(group) for group in asking(data.train, "entity").groups]))
        sample = loss.sample(batch)  # type: ignore[attr-defined]
        entities, tables = entities_used(batch, sample.ids), EntityTables(model)
        assert len(entities) < model.info.num_entities
        whole = loss(model, batch, sample)
        whole.backward()  # type: ignore[no-untyped-call]
        places = {name: tables.places(name, entities) for name in tables.parameters}
        rows = {name: model.get_parameter(name).detach()[place].requires_grad_() for name, place in places.items()}
        local = sample._replace(ids=torch.searchsorted(entities, sample.ids))
        arguments = (model, renumber(batch, entities), local)
        by_rows = tables.run(loss, *arguments, tables=rows, num_entities=len(entities))
        torch.testing.assert_close(by_rows, whole)
        expected = {name: model.get_parameter(name).grad for name in rows}
        by_rows.backward()  # type: ignore[no-untyped-call]
        for name, gradient in expected.items():
            assert gradient is not None
            torch.testing.assert_close(rows[name].grad, gradient[places[name]])
            assert gradient.count_nonzero() == gradient[places[name]].count_nonzero()

    def test_weights_are_all_that_is_saved(self, model: Model) -> None:
        """What follows from the facts is built anew: only parameters and running statistics of norms are kept."""
        statistics = {name for name in model.state_dict() if "norm" in name or name.endswith((".mean", ".variance"))}
        assert set(model.state_dict()) - statistics <= {name for name, _ in model.named_parameters()}

    def test_built_on_the_meta_device_it_has_the_same_shapes(self, model: Model, data: Dataset) -> None:
        with torch.device("meta"):
            outline = self.build(data).state_dict()
        assert all(tensor.is_meta for tensor in outline.values())
        assert {name: tensor.shape for name, tensor in outline.items()} == {
            name: tensor.shape for name, tensor in model.state_dict().items()
        }

    def test_saved_and_loaded_scores_are_equal_to_the_last_bit(
        self, model: Model, data: Dataset, tmp_path: Path
    ) -> None:
        save_weights(tmp_path / "model.safetensors", model)
        again = self.build(data)
        again.load_state_dict(load_file(tmp_path / "model.safetensors"))
        for kind in kinds_of(model):
            batch = asking(data.train, kind)
            assert torch.equal(again.eval().score(batch, kind), model.score(batch, kind))

    def test_new_names_leave_the_scores_of_old_ones_as_they_are(
        self, model: Model, data: Dataset, tmp_path: Path
    ) -> None:
        settings = {f"model__{key}": value for key, value in self.settings.items()}
        trained = TrainedModel(model, data, small_recipe(data, self.name, loss__name=self.loss, **settings))
        old = next(fact for fact in data.train.facts(data.vocabulary) if fact.arity == max(data.train.arities))
        elements = [old.elements() for _ in range(3)]
        for changed, (role, name) in zip(elements, [("subject", "a"), ("object", "b"), ("relation", "c")], strict=True):
            changed[Position.parse(role)] = name
        result = update(trained, [Fact.from_elements(changed) for changed in elements])
        assert (result.update.facts, result.update.entities, result.update.relations) == (3, 2, 1)
        grown = result.model.module
        result.model.save(tmp_path / "model")
        loaded = load_model(tmp_path / "model").module
        for kind in kinds_of(model):
            batch, size = asking(data.test, kind), candidates_of(data, kind)
            scores = grown.score(batch, kind)
            assert scores.shape[1] == size + {"entity": 2, "relation": 1}[kind]
            assert torch.equal(loaded.score(batch, kind), scores)
            if not self.depends_on_facts:
                torch.testing.assert_close(scores[:, :size], model.score(batch, kind), rtol=1e-4, atol=1e-5)

    def test_twenty_facts_are_learned_by_heart(self, tmp_path: Path) -> None:
        if self.learns is None:
            pytest.skip("the model cannot")
        data = small_data(25)
        data = Dataset("twenty", data.vocabulary, {"train": data.facts.take(np.arange(20)), "test": data.test})
        trained = small_run(tmp_path / "run", self.name, data, loss__name=self.loss, **self.learns)
        metrics = trained.evaluate("train").metrics
        for kind in kinds_of(trained.module):
            assert metrics[kind]["mrr"] > 0.95

    def test_qualifiers_are_left_out_in_training_or_that_is_refused(self, data: Dataset) -> None:
        def losses(share: float) -> list[float]:
            settings = {f"model__{key}": value for key, value in self.settings.items()}
            training = {"training__epochs": 1, "training__qualifier_dropout": share}
            return train_in(
                None, data, small_recipe(data, self.name, loss__name=self.loss, **training, **settings)
            ).losses

        if MODELS.get(self.name).supports_qualifier_dropout:
            assert losses(1.0) != losses(0.0)
        else:
            with pytest.raises(SettingError, match=f"{self.name} cannot learn from facts with qualifiers left out"):
                losses(1.0)

    def test_a_recipe_for_a_given_time_has_steps_to_train(self, data: Dataset) -> None:
        settings = {f"model__{key}": value for key, value in self.settings.items()}
        recipe = small_recipe(data, self.name, loss__name=self.loss, **settings)
        fitted = fit_epochs(data, recipe, 1e-4)
        if list(self.build(data).parameters()):
            assert train_in(None, data, fitted).steps == fitted.training.max_steps > 0
        else:
            assert fitted == recipe

    def test_resumed_runs_are_equal_to_the_last_bit(self, data: Dataset, tmp_path: Path) -> None:
        settings = {f"model__{key}": value for key, value in self.settings.items()}
        dropout = 0.5 if MODELS.get(self.name).supports_qualifier_dropout else 0.0
        recipe = small_recipe(data, self.name, loss__name=self.loss, training__qualifier_dropout=dropout, **settings)
        whole = train_in(tmp_path / "whole", data, recipe)
        assert train_in_parts(tmp_path / "parts", data, recipe, 7) == max(0, whole.steps - 1) // 7
        assert weights(tmp_path / "parts") == weights(tmp_path / "whole")


def asking(table: FactTable, kind: Kind) -> Batch:
    """Every element of every fact that is an entity, or a relation."""
    groups = []
    for block in table.blocks:
        columns = block.entity_columns if kind == "entity" else block.relation_columns
        ids = torch.from_numpy(block.ids.astype(np.int64))
        groups.append(Group(ids.repeat_interleave(len(columns), 0), torch.tensor(columns).repeat(len(block))))
    return Batch(groups)


def half_partial(batch: Batch) -> Batch:
    """The same batch; every second fact of it may have further qualifiers."""
    return Batch([replace(group, partial=torch.arange(len(group.columns)) % 2 == 1) for group in batch.groups])


def _few(group: Group) -> Group:
    """The first two masked facts."""
    return Group(group.ids[:2], group.columns[:2])


def _turned(group: Group) -> Group:
    """The same masked facts with their qualifiers in the opposite order."""
    m = group.qualifiers
    first, value = FIRST_ATTRIBUTE, FIRST_ATTRIBUTE + m
    order = torch.tensor([0, 1, 2, *reversed(range(first, value)), *reversed(range(value, value + m))])
    return Group(group.ids[:, order], order[group.columns])  # the order is its own inverse


def train_in_parts(folder: Path, dataset: Dataset, recipe: Recipe, steps: int) -> int:
    """Press Ctrl-C after so many steps, resume, and so on to the end; how often training was interrupted."""
    interrupted = 0
    while True:
        try:
            if interrupted:
                resume(folder, [_interrupt_after(steps)])
            else:
                train_in(folder, dataset, recipe, _interrupt_after(steps))
        except InterruptedRun:
            interrupted += 1
        else:
            return interrupted


def _interrupt_after(steps: int) -> OnStep:
    numbers = count(1)
    return OnStep(lambda _: next(numbers) == steps and os.kill(os.getpid(), signal.SIGINT))
