"""Similar names: by hand with vectors that are known."""

import math
from dataclasses import replace

import pytest
import torch
from inference.memory import remembering
from runs.small import dataset_of
from torch import Tensor

from nary.config import Settings
from nary.errors import DataError, SettingError
from nary.facts import Fact
from nary.inference.predictor import Predictor
from nary.models.base import DatasetInfo, Kind, Model

DATA = dataset_of(train=[Fact("a", "r", "b"), Fact("c", "s", "d")])
LABELLED = replace(DATA, vocabulary=replace(DATA.vocabulary, labels={"b": "Ben", "r": "reads"}))


class Vectors(Model):
    """A model of nothing but vectors."""

    name = "vectors"

    def candidates(self, kind: Kind) -> tuple[Tensor, Tensor]:
        vectors = torch.tensor([[2.0, 0.0], [1.0, 1.0], [-1.0, 0.0], [0.0, 3.0]])
        return vectors[: 4 if kind == "entity" else 2], torch.zeros(4)


@pytest.fixture
def predictor() -> Predictor:
    return Predictor(Vectors(Settings(), DatasetInfo.from_dataset(LABELLED)), LABELLED)


def test_by_hand(predictor: Predictor) -> None:
    found = predictor.similar("a").as_dict()
    assert [one["name"] for one in found["neighbors"]] == ["b", "d", "c"]
    assert [one["similarity"] for one in found["neighbors"]] == pytest.approx([1 / math.sqrt(2), 0, -1], abs=1e-6)
    assert found["neighbors"][0]["label"] == "Ben"
    assert (found["name"], found["label"], found["kind"]) == ("a", "a", "entity")


def test_by_label_and_kind(predictor: Predictor) -> None:
    found = predictor.similar("ben", k=1)
    assert (found.name, found.label, len(found.neighbors)) == ("b", "Ben", 1)
    assert predictor.similar("reads").kind == "relation"
    assert [one.name for one in predictor.similar("r", "relation").neighbors] == ["s"]


def test_mistakes(predictor: Predictor) -> None:
    with pytest.raises(DataError, match="unknown name 'z'"):
        predictor.similar("z")
    with pytest.raises(DataError, match="unknown relation 'a'"):
        predictor.similar("a", "relation")
    with pytest.raises(SettingError, match="0 answers"):
        predictor.similar("a", k=0)
    with pytest.raises(SettingError, match="memory has no embeddings"):
        remembering(DATA).similar("a")
