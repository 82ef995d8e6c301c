"""A blend as a model: the mix, parts that cannot predict a role, hidden elements, vectors."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from contracts.model import asking
from reference.blend import mixed_score
from runs.small import small_data

from nary.data.dataset import Dataset
from nary.errors import SettingError
from nary.facts import Role
from nary.facts.layout import OBJECT, RELATION, SUBJECT
from nary.models.base import DatasetInfo, Kind
from nary.models.batch import Batch, Group
from nary.models.blend.model import ROLES, Blend
from nary.models.blend.settings import BlendSettings
from nary.recipe import Recipe, choose_recipe

_GRAN = {"name": "gran", "num_layers": 1, "num_heads": 2, "hidden_dim": 8, "ffn_dim": 8}
_TUPLES = {"name": "m-distmult", "embedding_dim": 8}


def blend_of(data: Dataset, *models: dict[str, Any]) -> Blend:
    """A blend with random weights."""
    torch.manual_seed(1)
    settings = BlendSettings.model_validate({"parts": [{"model": model} for model in models]})
    blend = Blend(settings, DatasetInfo.from_dataset(data)).eval()
    with torch.no_grad():
        blend.weight.copy_(torch.rand_like(blend.weight))
        blend.temperature.copy_(0.5 + torch.rand_like(blend.temperature))
    return blend


@pytest.fixture
def data() -> Dataset:
    return small_data()


def test_scores_are_those_of_the_plain_mix(data: Dataset) -> None:
    blend = blend_of(data, {"name": "rules"}, _GRAN, _TUPLES)
    kinds: tuple[Kind, ...] = ("entity", "relation")
    for kind in kinds:
        batch = asking(data.valid, kind)
        scores = iter(blend.score(batch, kind))
        for group in batch.groups:
            for ids, column in zip(group.ids.tolist(), group.columns.tolist(), strict=True):
                expected = mixed_score(blend.models, blend.weight.tolist(), blend.temperature.tolist(), ids, column)
                torch.testing.assert_close(next(scores), torch.tensor(expected), rtol=1e-4, atol=1e-4)


def test_partial_facts_have_weights_of_their_own(data: Dataset) -> None:
    blend = blend_of(data, {"name": "rules"}, _TUPLES)  # these parts know nothing of partial facts
    (group, *_) = asking(data.valid, "entity").groups
    partial = torch.arange(len(group.ids)) % 2 == 0
    scores = blend.score(Batch([replace(group, partial=partial)]), "entity")
    weights, temperatures = blend.weight.tolist(), blend.temperature.tolist()
    halves = {False: slice(len(ROLES)), True: slice(len(ROLES), None)}
    for row, (ids, column) in enumerate(zip(group.ids.tolist(), group.columns.tolist(), strict=True)):
        half = halves[bool(partial[row])]
        expected = mixed_score(blend.models, weights[half], temperatures[half], ids, column)
        torch.testing.assert_close(scores[row], torch.tensor(expected), rtol=1e-4, atol=1e-4)


def test_a_part_without_weight_is_not_asked(data: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    blend = blend_of(data, {"name": "rules"}, _GRAN)
    with torch.no_grad():
        blend.weight[ROLES.index(Role.OBJECT), :, 0] = 0
        blend.weight[ROLES.index(Role.OBJECT), :, 1] = 1
        blend.temperature.fill_(1)
    ids = torch.from_numpy(data.train.blocks[0].ids).long()
    batch = Batch([Group(ids, torch.full((len(ids),), OBJECT))])
    monkeypatch.setattr(blend.models[0], "score", lambda *_: pytest.fail("the rules have no weight"))
    assert torch.equal(blend.score(batch, "entity"), blend.models[1].score(batch, "entity"))


def test_it_predicts_what_some_part_predicts(data: Dataset) -> None:
    assert blend_of(data, _TUPLES).roles == {Role.SUBJECT, Role.OBJECT, Role.VALUE}
    both = blend_of(data, _TUPLES, _GRAN)
    assert both.roles == frozenset(Role) == Blend.roles_of(both.settings)
    ids = torch.from_numpy(data.train.blocks[0].ids).long()
    batch = Batch([Group(ids, torch.full((len(ids),), RELATION))])
    alone = both.models[1].score(batch, "relation")
    assert torch.equal(both.score(batch, "relation").argsort(1), alone.argsort(1))


def test_where_elements_are_hidden_only_parts_that_support_it_answer(data: Dataset) -> None:
    blend = blend_of(data, {"name": "rules"}, _GRAN)
    assert blend.supports_multiple_masks
    assert not blend_of(data, {"name": "rules"}).supports_multiple_masks
    ids = torch.from_numpy(data.train.blocks[0].ids).long()[:4]
    hidden = torch.zeros_like(ids, dtype=torch.bool)
    hidden[:2, SUBJECT] = True
    batch = Batch([Group(ids, torch.full((4,), OBJECT), hidden)])
    factors = blend.factors(batch)
    assert (factors[:2, 0] == 0).all()
    assert (factors[2:] > 0).all()
    with torch.no_grad():
        blend.weight[..., 1] = 0
    assert (blend.factors(batch)[:2, 1] > 0).all()  # it answers even if it has no weight otherwise


def test_an_unknown_relation_has_the_common_weights(data: Dataset) -> None:
    blend = blend_of(data, _GRAN, _GRAN)
    ids = torch.from_numpy(data.train.blocks[0].ids).long()[:1]
    hidden = torch.zeros_like(ids, dtype=torch.bool)
    hidden[:, RELATION] = True
    factors = blend.factors(Batch([Group(ids, torch.tensor([OBJECT]), hidden)]))
    place = ROLES.index(Role.OBJECT)
    torch.testing.assert_close(factors[0], blend.weight[place, -1] / blend.temperature[place])


@pytest.mark.parametrize("kind", ["entity", "relation"])
def test_of_models_with_vectors_it_has_vectors(data: Dataset, kind: Kind) -> None:
    blend = blend_of(data, _GRAN, _TUPLES)
    batch = asking(data.train, kind)
    vectors, bias = blend.candidates(kind)
    scores = blend.encode(batch) @ vectors.T + bias
    torch.testing.assert_close(scores, blend.score(batch, kind), rtol=1e-4, atol=1e-4)


def test_with_a_part_without_vectors_it_has_none(data: Dataset) -> None:
    with pytest.raises(NotImplementedError):
        blend_of(data, {"name": "rules"}, _GRAN).candidates("entity")


def test_parts_in_a_recipe() -> None:
    tables = {"data": {"name": "toy"}, "model": {"name": "blend", "parts": ["rules", "gran/nobel"]}}
    recipe = Recipe.from_tables({**tables, "training": {"seed": 3, "device": "cpu"}})
    assert [part.model_name for part in recipe.parts] == ["rules", "gran"]
    assert recipe.parts[1].training.epochs == choose_recipe("nobel", "gran").training.epochs
    assert {(part.training.seed, part.training.device) for part in recipe.parts} == {(3, "cpu")}
    assert {part.data.name for part in recipe.parts} == {"toy"}
    assert Recipe.from_tables(recipe.as_tables()) == recipe


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ("rules", "model.parts is 'rules'"),
        ([], r"model\.parts is \[\]"),
        (["gran/noble"], "no recipe or model 'gran/noble'"),
        ([{"model": {"name": "blend", "parts": ["rules"]}}], "a blend cannot be part of a blend"),
        ([{"model": {"name": "rules", "prio": 1.0}}], "unknown key model.prio"),
        ([{"modle": {}}], "is no part of a blend"),
    ],
)
def test_parts_that_are_none(parts: object, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        Recipe.from_tables({"data": {"name": "toy"}, "model": {"name": "blend", "parts": parts}})


def test_by_default_it_is_of_rules_and_gran() -> None:
    recipe = Recipe.from_tables({"data": {"name": "toy"}, "model": {"name": "blend"}})
    assert [part.model for part in recipe.parts] == [part.model for part in BlendSettings().parts]
