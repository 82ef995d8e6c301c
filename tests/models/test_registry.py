"""The registry of models: what each says about itself, and models of one's own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
import torch
from runs.small import small_data, small_run
from torch import Tensor, nn

from nary.config import Settings
from nary.errors import SettingError
from nary.models.base import DatasetInfo, Kind, Model
from nary.models.batch import Batch
from nary.models.registry import MODELS, register_model
from nary.recipe import choose_recipe, full_key
from nary.runs import load_model


@pytest.mark.parametrize("name", list(MODELS))
def test_every_model_says_what_it_is(name: str) -> None:
    model = MODELS.get(name)
    assert issubclass(model, Model)
    assert model.name == name == model.settings_class().model_dump()["name"]
    assert model.family != "other"
    assert model.description
    assert model.reference
    assert model.losses
    assert model.roles
    assert model.__doc__


def test_unknown_names_are_refused_with_the_nearest() -> None:
    with pytest.raises(SettingError, match="unknown model 'grann'") as caught:
        MODELS.get("grann")
    assert "gran" in str(caught.value.hint)


class PopularitySettings(Settings):
    """``[model]`` of a recipe for a model of our own."""

    name: Literal["popularity"] = "popularity"
    scale: float = 1.0


class Popularity(Model):
    """A score for each candidate, whatever the query; it starts with how often relations occur."""

    name = "popularity"
    settings_class = PopularitySettings
    description = "the same scores for every query"

    def __init__(self, settings: PopularitySettings, info: DatasetInfo) -> None:
        super().__init__(settings, info)
        self.entity_bias = nn.Parameter(torch.randn(info.num_entities) * settings.scale)
        self.relation_bias = nn.Parameter(torch.zeros(info.num_relations))
        with torch.device("cpu"):
            relations = torch.cat([torch.from_numpy(block.ids[:, 0]).long() for block in info.facts.blocks])
            counts = torch.bincount(relations, minlength=info.num_relations)
        self.register_buffer("counts", counts, persistent=False)

    def encode(self, batch: Batch) -> Tensor:
        return torch.ones(len(batch), 1)

    def candidates(self, kind: Kind) -> tuple[Tensor, Tensor]:
        bias = self.entity_bias if kind == "entity" else self.relation_bias + self.counts.float().log1p()
        return torch.zeros(len(bias), 1), bias


@pytest.fixture
def popularity() -> Iterator[type[Popularity]]:
    yield register_model(Popularity)
    MODELS._registered.pop("popularity")


def test_a_model_of_ones_own_is_trained_saved_and_loaded_by_its_name(
    popularity: type[Popularity], tmp_path: Path
) -> None:
    assert "popularity" in list(MODELS)
    assert full_key("scale", "popularity") == "model.scale"
    assert choose_recipe("mine", "popularity").model == PopularitySettings()
    run = small_run(tmp_path / "run", "popularity", model__scale=0.5)
    again = load_model(tmp_path / "run")
    assert isinstance(again.module, popularity)
    assert again.settings == PopularitySettings(scale=0.5)
    assert not torch.equal(again.module.entity_bias, popularity(PopularitySettings(), again.module.info).entity_bias)
    for name, weights in run.module.state_dict().items():
        assert torch.equal(again.module.state_dict()[name], weights)
    assert torch.equal(again.module.get_buffer("counts"), run.module.get_buffer("counts"))
    assert again.evaluate().metrics == run.evaluate().metrics
    assert "the same scores for every query" in (tmp_path / "run" / "model" / "README.md").read_text()
    fact = next(iter(small_data().test.facts(run.dataset.vocabulary)))
    assert again.predict(f"{fact.subject} | {fact.relation} | ?") == run.predict(
        f"{fact.subject} | {fact.relation} | ?"
    )


@pytest.mark.usefixtures("popularity")
def test_names_are_taken_once() -> None:
    class Other(Popularity):
        """Another one of that name."""

    with pytest.raises(SettingError, match="a model named 'popularity' exists already"):
        register_model(Other)


def test_information_follows_from_the_dataset() -> None:
    data = small_data()
    info = DatasetInfo.from_dataset(data)
    names = data.vocabulary
    assert (info.num_candidates("entity"), info.num_candidates("relation")) == (
        len(names.entities),
        len(names.relations),
    )
    assert (info.max_arity, info.facts) == (4, data.train)
    both = DatasetInfo.from_dataset(data, ["train", "valid"])
    assert len(both.facts) == len(data.train) + len(data["valid"])
    assert len(DatasetInfo.from_dataset(data, ["train", "train"], qualifiers=False).facts) <= len(data.train)
