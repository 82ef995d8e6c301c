"""GRAN against the plain reference, and the laws that follow from how it is built."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from contracts.info import info_of
from contracts.losses import loss_on
from reference.gran import ReferenceConfig, ReferenceGran, encode, smoothed_loss, targets_of
from torch import Tensor

from nary.errors import SettingError
from nary.models.batch import Batch, Group
from nary.models.gran import Gran, GranSettings
from nary.training.runtime import precision

INFO = info_of(40, 12, 9)
SMALL = {"num_layers": 3, "num_heads": 4, "hidden_dim": 32, "ffn_dim": 48, "dropout": 0.0}


def make(**settings: object) -> Gran:
    """A model with weights large enough that every term matters."""
    torch.manual_seed(0)
    model = Gran(GranSettings(**{**SMALL, **settings}), INFO).eval()  # type: ignore[arg-type]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    return model


def ids_of(count: int, qualifiers: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng([seed, qualifiers])
    relations = random.integers(INFO.num_relations, size=(count, 3 + 2 * qualifiers))
    entities = random.integers(INFO.num_entities, size=relations.shape)
    is_entity = np.ones(relations.shape[1], bool)
    is_entity[[0, *range(3, 3 + qualifiers)]] = False
    return np.where(is_entity, entities, relations)


def all_positions(qualifiers: int) -> tuple[np.ndarray, np.ndarray]:
    """Random facts of one arity, one for each masked column."""
    width = 3 + 2 * qualifiers
    return ids_of(width, qualifiers), np.arange(width)


def batch_of(*groups: tuple[np.ndarray, np.ndarray]) -> Batch:
    return Batch([Group(torch.from_numpy(ids), torch.from_numpy(columns)) for ids, columns in groups])


def reference_of(model: Gran) -> ReferenceGran:
    """The reference with the weights of ``model``."""
    settings = model.settings
    config = ReferenceConfig(
        INFO.num_entities,
        INFO.num_relations,
        INFO.max_arity,
        settings.num_layers,
        settings.num_heads,
        settings.hidden_dim,
        settings.ffn_dim,
        0.0,
        settings.variant,
        settings.head,
    )
    reference = ReferenceGran(config).eval()
    theirs = dict(reference.named_parameters())
    with torch.no_grad():
        for name, ours in reference_weights(model):
            target = theirs.pop(name)
            target[-len(ours) :].copy_(ours)  # [PAD] and the unused edge row come first and keep what they have
    assert not theirs, f"never set: {list(theirs)}"
    return reference


def reference_weights(model: Gran) -> Iterator[tuple[str, Tensor]]:
    yield "node_embedding", torch.cat([model.mask_embedding, model.relation_embedding, model.entity_embedding])
    yield "output_bias", model.output_bias
    for name in ("edge_key", "edge_value"):
        yield name, getattr(model, name).view(4, -1)
    for name, tensor in model.named_parameters():
        part = name.split(".")
        if part[0] in ("input_norm", "head_transform", "head_norm"):
            yield name, tensor
        if part[0] == "layers" and part[2] == "projection":
            for own, third in zip(("query", "key", "value"), tensor.chunk(3), strict=True):
                yield f"layers.{part[1]}.{own}.{part[3]}", third
        elif part[0] == "layers":
            names = {"inner": "ffn_in", "outer": "ffn_out", "outer_norm": "ffn_norm"}
            yield f"layers.{part[1]}.{names.get(part[2], part[2])}.{part[3]}", tensor


def reference_logits(reference: ReferenceGran, ids: np.ndarray, columns: np.ndarray) -> Tensor:
    return reference(*encode(ids, columns, reference.config))


def candidates_of(logits: Tensor, asks_entity: bool) -> Tensor:
    """The columns of the reference's logits that are candidates."""
    first = 2 + INFO.num_relations
    return logits[..., first:] if asks_entity else logits[..., 2:first]


@pytest.mark.parametrize("variant", ["hete", "homo", "complete"])
@pytest.mark.parametrize("head", ["code", "equation"])
def test_scores_agree_with_the_reference_at_every_arity_and_position(variant: str, head: str) -> None:
    model = make(variant=variant, head=head)
    reference = reference_of(model)
    with torch.inference_mode():
        for qualifiers in range(8):  # arities 2 to 9
            ids, columns = all_positions(qualifiers)
            logits = reference_logits(reference, ids, columns)
            for row, column in enumerate(columns):
                group = batch_of((ids[row : row + 1], columns[row : row + 1]))
                asks_entity = bool(group.asks_entity[0])
                ours = model.score(group, "entity" if asks_entity else "relation")[0]
                theirs = candidates_of(logits[row], asks_entity)
                torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5, msg=f"arity {qualifiers + 2}, {column}")


@pytest.mark.parametrize("variant", ["hete", "homo", "complete"])
def test_loss_and_gradients_of_a_mixed_batch_agree_with_the_reference(variant: str) -> None:
    model = make(variant=variant)
    reference = reference_of(model)
    groups = [all_positions(qualifiers) for qualifiers in range(8)]
    loss = loss_on(model, batch_of(*groups), entity_label_smoothing=0.8, relation_label_smoothing=0.2)
    loss.backward()

    count = sum(len(ids) for ids, _ in groups)
    total = torch.zeros(())
    for ids, columns in groups:
        target = targets_of(ids, columns, reference.config)
        relation = target < 2 + INFO.num_relations
        own = smoothed_loss(reference_logits(reference, ids, columns), target, relation, 0.8, 0.2, reference.config)
        total = total + own * len(ids) / count
    total.backward()
    torch.testing.assert_close(loss, total, atol=1e-5, rtol=1e-5)
    theirs = dict(reference.named_parameters())
    for (name, ours), grad in zip(reference_weights(model), reference_gradients(model), strict=True):
        expected = theirs[name].grad
        assert expected is not None, name
        torch.testing.assert_close(grad, expected[-len(ours) :], atol=1e-5, rtol=1e-4, msg=name)


def reference_gradients(model: Gran) -> Iterator[Tensor]:
    """The gradients in the order of :func:`reference_weights`."""
    twin = make(variant=model.settings.variant)
    with torch.no_grad():
        for mine, parameter in zip(twin.parameters(), model.parameters(), strict=True):
            mine.copy_(torch.zeros_like(mine) if parameter.grad is None else parameter.grad)
    for _, gradient in reference_weights(twin):
        yield gradient.detach()


def test_a_mixed_batch_gives_what_its_facts_give_alone() -> None:
    model = make()
    groups = [all_positions(qualifiers) for qualifiers in (0, 1, 3)]
    with torch.inference_mode():
        together = model.encode(batch_of(*groups))
        alone = torch.cat([model.encode(batch_of(group)) for group in groups])
    torch.testing.assert_close(together, alone, atol=1e-6, rtol=1e-6)


def query_of(model: Gran, row: list[int], column: int) -> Tensor:
    with torch.inference_mode():
        return model.encode(batch_of((np.array([row]), np.array([column]))))


def test_hete_does_not_see_the_order_of_qualifiers() -> None:
    model = make(variant="hete")
    one = query_of(model, [1, 2, 3, 4, 5, 6, 7, 8, 9], 2)
    other = query_of(model, [1, 2, 3, 6, 4, 5, 9, 7, 8], 2)
    torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def test_hete_sees_which_value_belongs_to_which_attribute() -> None:
    model = make(variant="hete")
    assert not torch.allclose(query_of(model, [1, 2, 3, 4, 5, 7, 8], 2), query_of(model, [1, 2, 3, 4, 5, 8, 7], 2))


def test_homo_cannot_tell_a_missing_subject_from_a_missing_object() -> None:
    subject, obj = [1, 0, 3], [1, 3, 0]
    torch.testing.assert_close(
        query_of(make(variant="homo"), subject, 1), query_of(make(variant="homo"), obj, 2), atol=1e-5, rtol=1e-5
    )
    assert not torch.allclose(query_of(make(variant="hete"), subject, 1), query_of(make(variant="hete"), obj, 2))


def test_complete_sees_only_which_elements_there_are() -> None:
    one, other = [1, 2, 3, 4, 5, 7, 8], [1, 2, 3, 4, 5, 8, 7]
    torch.testing.assert_close(
        query_of(make(variant="complete"), one, 2), query_of(make(variant="complete"), other, 2), atol=1e-5, rtol=1e-5
    )
    assert not torch.allclose(query_of(make(variant="homo"), one, 2), query_of(make(variant="homo"), other, 2))


@pytest.mark.parametrize("variant", ["hete", "homo", "complete"])
def test_the_masked_element_is_not_looked_at(variant: str) -> None:
    model = make(variant=variant)
    assert torch.equal(query_of(model, [1, 2, 3, 4, 5], 4), query_of(model, [1, 2, 3, 4, 17], 4))


OPTIONS: list[dict[str, object]] = [
    {"role_embeddings": "role"},
    {"role_embeddings": "position"},
    {"edge_bias": "per-head"},
    {"edge_bias": "per-layer"},
    {"edge_bias_on": "key"},
    {"edge_bias_on": "value"},
    {"edge_bias_on": "none"},
    {"pair_edges": True},
    {"norm": "pre"},
    {"tie_embeddings": False},
    {"head": "equation"},
]


@pytest.mark.parametrize("option", OPTIONS, ids=str)
def test_every_option_changes_the_scores_and_reaches_all_its_parameters(option: dict[str, object]) -> None:
    torch.manual_seed(1)
    plain, other = make(), make(**option)
    batch = batch_of(*(all_positions(qualifiers) for qualifiers in (0, 2)))
    assert not torch.allclose(plain.encode(batch), other.encode(batch)) or option == {"tie_embeddings": False}
    loss_on(other, batch).backward()
    missing = [name for name, p in other.named_parameters() if p.grad is None or not p.grad.abs().sum()]
    assert not missing


def test_role_embeddings_tell_homo_the_subject_from_the_object() -> None:
    model = make(variant="homo", role_embeddings="role")
    assert not torch.allclose(query_of(model, [1, 0, 3], 1), query_of(model, [1, 3, 0], 2))


def test_a_key_bias_alone_is_the_reference_without_value_biases() -> None:
    both, key = make(), make(edge_bias_on="key")
    assert key.edge_value is None
    with torch.no_grad():
        for name, parameter in key.named_parameters():
            parameter.copy_(dict(both.named_parameters())[name])
        assert both.edge_value is not None
        both.edge_value.zero_()
    batch = batch_of(all_positions(2))
    torch.testing.assert_close(both.encode(batch), key.encode(batch), atol=1e-6, rtol=1e-6)


def test_position_embeddings_work_beyond_the_arities_of_training() -> None:
    model = Gran(GranSettings(**SMALL, role_embeddings="position"), info_of(40, 12, 3))  # type: ignore[arg-type]
    assert query_of(model, [1, 2, 3, 4, 5, 6, 7], 2).shape == (1, 32)


def test_weights_start_as_published() -> None:
    torch.manual_seed(0)
    model = Gran(GranSettings(), info_of(4000, 100, 6))
    assert model.entity_embedding.abs().max() <= 0.04
    assert abs(float(model.entity_embedding.detach().std()) - 0.0176) < 2e-4
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            assert not parameter.any(), name
        if name.endswith("norm.weight"):
            assert bool((parameter == 1).all()), name


def test_heads_must_share_the_width() -> None:
    with pytest.raises(SettingError, match="5 heads cannot share"):
        Gran(GranSettings(hidden_dim=32, num_heads=5), INFO)


def test_bfloat16_stays_close_to_float32() -> None:
    torch.manual_seed(0)
    model = Gran(GranSettings(**SMALL), INFO)  # type: ignore[arg-type]
    batch = batch_of(*(all_positions(qualifiers) for qualifiers in (0, 2)))
    exact = loss_on(model, batch)
    with precision("bf16", torch.device("cpu")):
        rounded = loss_on(model, batch)
    assert float((rounded - exact).detach().abs()) < 0.01 * float(exact.detach())
    rounded.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def test_hidden_elements_are_not_looked_at() -> None:
    model = make()
    ids, columns = all_positions(2)
    hidden = torch.zeros(ids.shape, dtype=torch.bool)
    hidden[:, [1, 4]] = True
    other = np.where(hidden.numpy(), (ids + 1) % INFO.num_relations, ids)
    groups = [Group(torch.from_numpy(one), torch.from_numpy(columns), hidden) for one in (ids, other)]
    assert torch.equal(model.encode(Batch(groups[:1])), model.encode(Batch(groups[1:])))
    assert not torch.allclose(model.encode(Batch(groups[:1])), model.encode(batch_of((ids, columns))))


def test_attention_weights_of_a_vertex_sum_to_one() -> None:
    model = make()
    ids, columns = all_positions(2)
    weights = model.attention(batch_of((ids, columns)))
    assert weights.shape == (7, 3, 7, 7)
    looking = torch.ones(7, 3, 7)
    looking[:, -1] = torch.eye(7)  # the last layer looks from the masked vertex alone, here vertex i of fact i
    assert torch.allclose(weights.sum(-1), looking)
