"""Initial rows of entity tables: the same whoever draws them, a block at a time."""

from typing import Any

import pytest
import torch
from runs.small import small_data
from torch import Tensor, nn

from nary.models import entity_tables
from nary.models.base import DatasetInfo, Model
from nary.models.registry import MODELS
from nary.training.distributed.tables import ShardedTables
from nary.training.rows import EntityTables
from nary.workers import ALONE, Workers

INFO = DatasetInfo.from_dataset(small_data())
SETTINGS: dict[str, dict[str, Any]] = {
    "gran": {"num_layers": 1, "hidden_dim": 16, "num_heads": 2, "ffn_dim": 16, "tie_embeddings": False},
    "hy-transformer": {"num_layers": 1, "hidden_dim": 16, "num_heads": 2, "ffn_dim": 16},
    "m-distmult": {},
    "m-cp": {},
    "hype": {},
    "ram": {},
}


def build(name: str, workers: Workers = ALONE, seed: int = 0) -> Model:
    kind = MODELS.get(name)
    torch.manual_seed(seed)
    info = DatasetInfo(INFO.num_entities, INFO.num_relations, INFO.max_arity, INFO.facts, workers=workers)
    return kind(kind.settings_class.model_validate(SETTINGS[name]), info)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("in_blocks", [False, True])
def test_a_worker_begins_with_its_rows_of_the_whole_tables(
    name: str, size: int, in_blocks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if in_blocks:
        monkeypatch.setattr(entity_tables, "DRAWN_AT_ONCE", 0)
        monkeypatch.setattr(entity_tables, "BLOCK", 100)
    for rank in range(size):
        workers = Workers(rank, size)
        whole, model = build(name), build(name, workers)
        tables = set(EntityTables(model).parameters)
        assert tables
        for table in tables:
            assert len(model.get_parameter(table)) < len(whole.get_parameter(table))
        ShardedTables(whole, workers)  # cuts them
        ShardedTables(model, workers)
        for key, tensor in whole.state_dict().items():
            assert torch.equal(model.state_dict()[key], tensor), key


def test_a_table_of_one_block_is_drawn_as_a_whole() -> None:
    torch.manual_seed(3)
    expected = nn.init.xavier_normal_(torch.empty(INFO.num_entities, 10))
    torch.manual_seed(3)
    assert torch.equal(entity_tables.xavier_entities(INFO, 10), expected)
    torch.manual_seed(3)
    expected = nn.init.xavier_uniform_(torch.empty(INFO.num_entities, 10))
    torch.manual_seed(3)
    assert torch.equal(entity_tables.xavier_entities(INFO, 10, "uniform"), expected)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_only_a_block_is_drawn_at_a_time(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entity_tables, "DRAWN_AT_ONCE", 100)
    monkeypatch.setattr(entity_tables, "BLOCK", 40)
    drawn: list[int] = []

    def count_up(rows: Tensor) -> None:
        rows[:] = torch.arange(sum(drawn), sum(drawn) + len(rows))[:, None]
        drawn.append(len(rows))

    info = DatasetInfo(11, 1, 2, INFO.facts, workers=Workers(size - 1, size))
    table = torch.empty(2 + info.num_entity_rows + 1, 8)
    entity_tables.draw_table(table, count_up, info, first=2)
    assert drawn == [5, 5, 4]
    assert table[:, 0].tolist() == [0, 1, *range(1 + size, 13, size), 13]
