"""NaLP: the network as printed, the shortcut for candidates, and what they promise."""

from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from contracts.info import info_of
from contracts.model import ModelContract, asking
from reference.pairs import nalp_scores
from torch import Tensor

from nary.facts import FactTable
from nary.models.base import Kind
from nary.models.batch import Batch, Group
from nary.models.pairs import nalp
from nary.models.pairs.nalp import NaLP, NaLPSettings

INFO = info_of(9, 6, 5)
SMALL: dict[str, Any] = {"embedding_dim": 4, "num_filters": 6, "fcn_dim": 20}


class TestContract(ModelContract):
    name = "nalp"
    settings = SMALL
    loss = "corruption_bce"
    learns: ClassVar[dict[str, Any] | None] = {
        "training__epochs": 300,
        "training__batch_size": 20,
        "training__learning_rate": 0.005,
        "training__weight_decay": 0.0,
        "loss__num_negatives": 10,
        "loss__value_fraction": 0.5,
        "loss__negative_pool": "all",
        "model__embedding_dim": 16,
        "model__num_filters": 32,
        "model__fcn_dim": 64,
    }


def facts(arities: tuple[int, ...] = (2, 3, 4, 5), count: int = 4) -> FactTable:
    """Random facts, so many of each arity; some have an attribute twice."""
    random = np.random.default_rng(0)
    counts = np.repeat(arities, count) - 2
    heads = np.stack([random.integers(high, size=len(counts)) for high in (6, 9, 9)], 1)
    pairs = np.stack([random.integers(high, size=counts.sum()) for high in (3, 9)], 1)
    return FactTable.from_columns(heads.astype(np.int32), counts, pairs.astype(np.int32))


def made(**changed: Any) -> NaLP:
    """A model in double precision with random weights, whose norm has seen something."""
    torch.manual_seed(0)
    model = NaLP(NaLPSettings(**(SMALL | changed)), INFO).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter))
        model.norm.mean.copy_(torch.randn_like(model.norm.mean))
        model.norm.variance.copy_(torch.rand_like(model.norm.variance) + 0.5)
    return model.eval()


def ids_of(table: FactTable) -> list[Tensor]:
    return [torch.from_numpy(block.ids.astype(np.int64)) for block in table.blocks]


def test_whole_facts_score_as_printed() -> None:
    model = made()
    for ids in ids_of(facts()):
        expected = nalp_scores(model, ids).detach()
        assert len(expected.round(decimals=6).unique()) == len(expected)
        torch.testing.assert_close(model.fact_scores(ids).detach(), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", ["entity", "relation"])
@pytest.mark.parametrize("block_bytes", [1, 1 << 10, 1 << 20])
def test_all_candidates_score_what_the_whole_facts_score(
    kind: Kind, block_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nalp, "_BLOCK_BYTES", block_bytes)
    model, batch = made(), asking(facts(), kind)
    assert {group.ids.shape[1] for group in batch.groups} == {3, 5, 7, 9}
    rows = []
    for group in batch.groups:
        for ids, column in zip(group.ids, group.columns.tolist(), strict=True):
            tiled = ids.repeat(9 if kind == "entity" else 6, 1)
            tiled[:, column] = torch.arange(len(tiled))
            rows.append(model.fact_scores(tiled))
    torch.testing.assert_close(model.score(batch, kind), torch.stack(rows).detach(), rtol=1e-10, atol=1e-10)


def test_a_fact_in_which_no_unit_is_left_scores_the_bias() -> None:
    model = made()
    with torch.no_grad():
        model.relate_bias.fill_(-1e3)
    ids = ids_of(facts((3,)))[0]
    scores = model.score(Batch([Group(ids, torch.full((len(ids),), 1))]), "entity")
    assert torch.equal(scores, model.judge_bias.detach().expand_as(scores))


def test_groups_are_normalized_together() -> None:
    """In training the norm sees all pairs of a batch, however the facts are grouped."""
    together, apart = made().train(), made().train()
    (binary,) = ids_of(facts((2,), count=6))
    whole = together.group_scores([binary])[0]
    parts = apart.group_scores([binary[:2], binary[2:]])
    torch.testing.assert_close(torch.cat(parts), whole, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(apart.norm.mean, together.norm.mean)
    assert not torch.allclose(apart.fact_scores(binary[:2]), whole[:2])


def test_the_norm_by_hand() -> None:
    model = made(num_filters=3).train()
    (ids,) = ids_of(facts((3,), count=5))
    mean, variance = model.norm.mean.clone(), model.norm.variance.clone()
    roles = torch.cat([ids[:, :1], 6 + ids[:, :1], 12 + ids[:, 3:4]], 1)
    values = ids[:, [1, 2, 4]]
    rows = torch.cat([model.role[roles], model.entity[values]], 2).flatten(0, 1) @ model.filters.T
    model.fact_scores(ids)
    torch.testing.assert_close(model.norm.mean, 0.9 * mean + 0.1 * rows.mean(0).detach())
    torch.testing.assert_close(model.norm.variance, 0.9 * variance + 0.1 * rows.var(0, correction=0).detach())


def test_half_precision_comes_close() -> None:
    model, low = made(fcn_dim=50).float().train(), made(fcn_dim=50).float().train()
    groups = ids_of(facts(count=20))
    whole = torch.cat(model.group_scores(groups))
    with torch.autocast("cpu", torch.bfloat16):
        rounded = torch.cat(low.group_scores(groups)).float()
    torch.testing.assert_close(rounded, whole, rtol=0, atol=0.05 * whole.std().item())
    for scores in (whole, rounded):
        scores.square().mean().backward()
    for expected, found in zip(model.parameters(), low.parameters(), strict=True):
        assert expected.grad is not None
        assert found.grad is not None
        assert (found.grad - expected.grad).norm() <= 0.15 * expected.grad.norm()  # minima may fall on other rows


def test_first_weights_are_as_published() -> None:
    torch.manual_seed(0)
    model = NaLP(NaLPSettings(), info_of(1000, 100, 3))
    for table in (model.entity, model.role):
        assert table.abs().max() <= 0.1  # 1 / sqrt(100)
        assert table.std().item() == pytest.approx(0.1 / 3**0.5, rel=0.02)
    assert model.filters.abs().max() <= 0.2
    assert model.filters.std().item() == pytest.approx(0.088, rel=0.02)  # 0.1, cut off at twice that
    assert model.relate.abs().max().item() == pytest.approx((6 / 1400) ** 0.5, rel=0.01)
    assert model.judge.abs().max().item() == pytest.approx((6 / 1001) ** 0.5, rel=0.05)
    for bias in (model.filter_bias, model.relate_bias, model.judge_bias):
        assert not bias.any()
    count = sum(parameter.numel() for parameter in model.parameters())
    assert count == 1300 * 100 + 200 * 200 + 200 + 400 * 1000 + 1000 + 1000 + 1
