"""HINGE: the network as printed, the shortcut for candidates, and what they promise."""

from typing import Any, ClassVar

import pytest
import torch
from contracts.info import info_of
from contracts.model import ModelContract, asking
from models.pairs.small import INFO, facts, ids_of, randomized, whole_scores
from reference.pairs import hinge_scores
from torch import nn

from nary.models.base import Kind
from nary.models.pairs import base, hinge, sums
from nary.models.pairs.hinge import Convolution, Hinge, HingeSettings

SMALL: dict[str, Any] = {"embedding_dim": 6, "num_filters": 5}


class TestContract(ModelContract):
    name = "hinge"
    settings = SMALL
    loss = "corruption_bce"
    learns: ClassVar[dict[str, Any] | None] = {
        "training__epochs": 150,
        "training__batch_size": 20,
        "training__learning_rate": 0.01,
        "training__weight_decay": 0.0,
        "loss__num_negatives": 10,
        "loss__value_fraction": 0.5,
        "loss__negative_pool": "all",
        "model__embedding_dim": 16,
        "model__num_filters": 16,
    }


def made() -> Hinge:
    model = randomized(Hinge(HingeSettings(**SMALL), INFO))
    assert isinstance(model, Hinge)
    return model


def test_whole_facts_score_as_printed() -> None:
    model = made()
    for ids in ids_of(facts()):
        expected = hinge_scores(model, ids).detach()
        assert len(expected.unique()) == len(expected)
        torch.testing.assert_close(model.fact_scores(ids).detach(), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", ["entity", "relation"])
@pytest.mark.parametrize("size", [1, 10, 1 << 20])
def test_all_candidates_score_what_the_whole_facts_score(
    kind: Kind, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((base, "_PART"), (hinge, "_FEATURES"), (sums, "_BLOCK")):
        monkeypatch.setattr(module, name, size)
    model, batch = made(), asking(facts(), kind)
    assert {group.ids.shape[1] for group in batch.groups} == {3, 5, 7, 9}
    torch.testing.assert_close(model.score(batch, kind), whole_scores(model, batch, kind), rtol=1e-10, atol=1e-10)


def test_a_qualifier_can_only_lower_features() -> None:
    """With weights above 0 so does every qualifier the score, and one said twice changes nothing."""
    model = made()
    with torch.no_grad():
        model.weight.abs_()
    one = torch.tensor([[0, 1, 2, 3, 4]])
    score = model.fact_scores(one)
    assert model.fact_scores(one[:, :3]) >= score >= model.fact_scores(torch.tensor([[0, 1, 2, 3, 5, 4, 6]]))
    torch.testing.assert_close(model.fact_scores(torch.tensor([[0, 1, 2, 3, 3, 4, 4]])), score)


def test_groups_are_normalized_together() -> None:
    """In training the norms see all facts of a batch, however they are grouped."""
    together, apart = made().train(), made().train()
    (ids,) = ids_of(facts((4,), count=6))
    (whole,) = together.group_scores([ids])
    parts = apart.group_scores([ids[:2], ids[2:]])
    torch.testing.assert_close(torch.cat(parts), whole)
    torch.testing.assert_close(apart.pair.variance, together.pair.variance)
    assert not torch.allclose(apart.fact_scores(ids[:2]), whole[:2])


def test_the_norm_is_a_batch_norm() -> None:
    """Also in its gradients, and in what it remembers, although it never looks at the features."""
    torch.manual_seed(0)
    own, plain = Convolution(5, 4).double(), nn.BatchNorm2d(4).double()
    with torch.no_grad():
        own.scale.uniform_(0.5, 2)
        own.shift.uniform_(-1, 1)
        plain.weight.copy_(own.scale)
        plain.bias.copy_(own.shift)
    stacks = (3 + torch.randn(6, 5, 7, dtype=torch.float64)).requires_grad_()
    pull = torch.randn(6, 5, 4, dtype=torch.float64)

    def gradients(features: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad((features * pull).sum(), (stacks, own.filters))

    found = own(stacks)
    expected = plain(nn.functional.conv2d(stacks[:, None], own.filters[:, None]))[:, :, 0].transpose(1, 2)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(gradients(found), gradients(expected))
    torch.testing.assert_close(own.mean, plain.running_mean)
    torch.testing.assert_close(own.variance, plain.running_var)


def test_training_on_facts_without_qualifiers_leaves_their_norm_alone() -> None:
    model = made().train()
    before = model.pair.mean.clone()
    assert model.fact_scores(ids_of(facts((2,)))[0]).isfinite().all()
    assert torch.equal(model.pair.mean, before)


def test_first_weights_and_size_are_as_published() -> None:
    torch.manual_seed(0)
    model = Hinge(HingeSettings(), info_of(28645, 501, 6))  # JF17K
    for table in (model.entity, model.relation):
        assert table.abs().max() <= 0.1  # 1 / sqrt(100)
        assert table.std().item() == pytest.approx(0.1 / 3**0.5, rel=0.02)
    for own in (model.triple, model.pair):
        assert own.filters.abs().max() <= 0.2
        assert own.filters.std().item() == pytest.approx(0.088, rel=0.03)  # 0.1, cut off at twice that
    assert model.weight.std().item() == pytest.approx((2 / 39201) ** 0.5, rel=0.02)
    assert not model.bias.any()
    assert round(sum(parameter.numel() for parameter in model.parameters()) / 1e6, 1) == 3.0
