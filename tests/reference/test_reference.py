"""The plain GRAN against hand-worked numbers, closed forms and the symmetries its graph must have."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from reference.gran import (
    PAD,
    Layer,
    ReferenceAdam,
    ReferenceConfig,
    ReferenceGran,
    all_masks,
    edge_types,
    encode,
    is_relation,
    known_answers,
    rank_all,
    rate_at,
    smoothed_loss,
    targets_of,
    train_step,
)

SMALL = ReferenceConfig(entities=7, relations=4, max_arity=4, layers=2, heads=2, width=8, inner=12)
# tokens: relations 2..5, entities 6..12; vertices: r s o a a v v


def small(variant: str = "hete", **changes: Any) -> ReferenceGran:
    """A model whose weights are large enough for every part of it to matter, in float64 so that equal means equal."""
    model = ReferenceGran(replace(SMALL, **{"variant": variant, **changes})).double().eval()
    generator = torch.Generator().manual_seed(3)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5, generator=generator)
    return model


def logits(model: ReferenceGran, ids: list[int], column: int) -> Tensor:
    """What the model says about one element of one fact."""
    with torch.no_grad():
        found: Tensor = model(*encode(np.array([ids]), np.array([column]), model.config))
    return found[0]


def same(a: Tensor, b: Tensor) -> bool:
    return torch.allclose(a, b, rtol=0, atol=1e-9)


# ------------------------------------------------------------------------------------------------------ encoding


def test_encode_pads_attributes_and_values_apart() -> None:
    ids = np.array([[3, 0, 6, 1, 2], [0, 4, 4, 2, 5]])  # arity 3 in a table of arity 4
    tokens, position, validity = encode(ids, np.array([4, 3]), SMALL)
    assert tokens.tolist() == [
        [5, 6, 12, 3, 0, 1, 0],  # value 1 stands at 3 + 2 = 5, two after attribute 1
        [2, 10, 10, 1, 0, 11, 0],
    ]
    assert position.tolist() == [5, 3]
    assert validity.tolist() == [[1, 1, 1, 1, 0, 1, 0]] * 2
    assert targets_of(ids, np.array([4, 3]), SMALL).tolist() == [8, 4]
    assert is_relation(position, SMALL).tolist() == [False, True]


def test_all_masks_keeps_the_masks_of_a_fact_together() -> None:
    ids, columns = all_masks(np.array([[1, 2, 3], [4, 5, 6]]))
    assert ids.tolist() == [[1, 2, 3]] * 3 + [[4, 5, 6]] * 3
    assert columns.tolist() == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize(
    ("variant", "first_row", "second_attribute"),
    [("hete", [0, 1, 2, 3, 3, 0, 0], 4), ("homo", [0, 1, 1, 1, 1, 0, 0], 1), ("complete", [0] * 7, 0)],
)
def test_edges(variant: Any, first_row: list[int], second_attribute: int) -> None:
    edges = edge_types(replace(SMALL, variant=variant))
    assert edges[0].tolist() == first_row
    assert edges[4].tolist() == [first_row[4], 0, 0, 0, 0, 0, second_attribute]
    assert edges.equal(edges.T)
    assert not edges.diagonal().any()


# --------------------------------------------------------------------------------------------------------- model

PUBLISHED = {  # dataset: entities, relations, maximum arity, parameters
    "JF17K": (28_645, 501, 6, 13_883_740),
    "WikiPeople": (47_765, 193, 9, 18_718_424),
    "WikiPeople-": (34_825, 178, 7, 15_388_989),
    "JF17K-3": (11_541, 208, 3, 9_412_711),
    "JF17K-4": (6_536, 69, 4, 8_090_703),
    "WikiPeople-3": (12_270, 112, 3, 9_575_392),
    "WikiPeople-4": (9_528, 95, 4, 8_866_329),
}


@pytest.mark.parametrize("dataset", PUBLISHED)
def test_parameter_totals(dataset: str) -> None:
    entities, relations, arity, parameters = PUBLISHED[dataset]
    with torch.device("meta"):
        model = ReferenceGran(ReferenceConfig(entities, relations, arity))
    assert sum(parameter.numel() for parameter in model.parameters()) == parameters


def test_the_equation_has_no_norm_in_its_head() -> None:
    code, equation = small(), small(head="equation")
    assert set(code.state_dict()) - set(equation.state_dict()) == {"head_norm.weight", "head_norm.bias"}
    assert not same(logits(code, [0, 1, 2], 1), logits(equation, [0, 1, 2], 1))


def test_initial_weights() -> None:
    torch.manual_seed(0)
    model = ReferenceGran(ReferenceConfig(900, 98, 3, layers=1))
    assert model.node_embedding.abs().max() <= 0.04
    assert model.node_embedding.std().item() == pytest.approx(0.0176, abs=1e-4)
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            assert (parameter == (1.0 if name.endswith("norm.weight") else 0.0)).all(), name


def norm(x: Tensor, layer: nn.LayerNorm) -> Tensor:
    centerd = x - x.mean()
    return centerd / (centerd.square().mean() + 1e-12).sqrt() * layer.weight + layer.bias


def gelu(x: Tensor) -> Tensor:
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def one_layer_by_loops(layer: Layer, model: ReferenceGran, x: list[Tensor], vertices: list[int]) -> list[Tensor]:
    """A block for the vertices of one fact that exist, one pair of vertices and one head at a time."""
    after = []
    for i, xi in zip(vertices, x, strict=True):
        attended = []
        for head in (slice(0, 4), slice(4, 8)):
            query = layer.query(xi)[head] / 2  # the root of 8 / 2
            scores, messages = [], []
            for j, xj in zip(vertices, x, strict=True):
                edge = int(model.edges[i, j])
                scores.append(query @ (layer.key(xj)[head] + (model.edge_key[edge] if edge else 0)))
                messages.append(layer.value(xj)[head] + (model.edge_value[edge] if edge else 0))
            weights = torch.stack(scores).softmax(0)
            attended.append(sum(w * message for w, message in zip(weights, messages, strict=True)))
        middle = norm(xi + layer.output(torch.cat(attended)), layer.attention_norm)
        after.append(norm(middle + layer.ffn_out(gelu(layer.ffn_in(middle))), layer.ffn_norm))
    return after


@torch.no_grad()
def test_forward_equals_the_formulas_one_vertex_at_a_time() -> None:
    model = small()
    vertices, tokens = [0, 1, 2, 3, 5], [5, 6, 1, 3, 8]  # arity 3, the object is missing
    x = [norm(model.node_embedding[token], model.input_norm) for token in tokens]
    for layer in model.layers:
        x = one_layer_by_loops(layer, model, x, vertices)  # type: ignore[arg-type]
    hidden = norm(gelu(model.head_transform(x[2])), model.head_norm)
    expected = model.node_embedding @ hidden + model.output_bias
    expected[:6] += -1e6  # the special tokens and the relations
    assert same(logits(model, [3, 0, 6, 1, 2], 2), expected)


def test_row_0_of_the_edge_tables_has_no_effect() -> None:
    model = small()
    before = logits(model, [0, 1, 2, 3, 4], 4)
    with torch.no_grad():
        model.edge_key[0] += 9
        model.edge_value[0] += 9
    assert same(logits(model, [0, 1, 2, 3, 4], 4), before)


def test_dropout_acts_in_training_only() -> None:
    model = small(dropout=0.5)
    inputs = encode(np.array([[0, 1, 2]]), np.array([1]), model.config)
    assert model(*inputs).equal(model(*inputs))
    model.train()
    assert not model(*inputs).equal(model(*inputs))


def test_dropout_places() -> None:
    model, places = small(dropout=0.5), []
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.register_forward_hook(lambda _, inputs, __: places.append(tuple(inputs[0].shape)))
    logits(model, [0, 1, 2], 1)
    vertices, weights = (1, 7, 8), (1, 2, 7, 7)
    assert places == [vertices, weights, vertices, vertices, weights, vertices, vertices]


# ---------------------------------------------------------------------------------------------------- symmetries

FACT = [0, 1, 2, 1, 3, 4, 5]  # relation 0, subject 1, object 2, attributes 1 and 3 with values 4 and 5
SWAPPED_PAIRS = [0, 1, 2, 3, 1, 5, 4]
SWAPPED_VALUES = [0, 1, 2, 1, 3, 5, 4]


def test_hete_does_not_see_the_order_of_qualifiers() -> None:
    for variant in ("hete", "homo", "complete"):
        model = small(variant)
        for column, moved in ((0, 0), (1, 1), (2, 2), (3, 4), (4, 3), (5, 6), (6, 5)):
            assert same(logits(model, FACT, column), logits(model, SWAPPED_PAIRS, moved))


def test_only_complete_does_not_see_which_value_belongs_to_which_attribute() -> None:
    for variant in ("hete", "homo", "complete"):
        model = small(variant)
        pairing_invisible = same(logits(model, FACT, 1), logits(model, SWAPPED_VALUES, 1))
        assert pairing_invisible == (variant == "complete")


def test_homo_cannot_tell_a_missing_subject_from_a_missing_object() -> None:
    for variant in ("hete", "homo", "complete"):
        model = small(variant)
        for qualifiers in ([], [1, 4], [1, 3, 4, 5]):
            no_subject = logits(model, [0, 6, 2, *qualifiers], 1)  # the answer, entity 6, is masked
            no_object = logits(model, [0, 2, 6, *qualifiers], 2)
            assert same(no_subject, no_object) == (variant != "hete")


@settings(max_examples=20)
@given(order=st.permutations([0, 2, 3, 4, 5, 6]))
def test_complete_sees_only_which_tokens_there_are(order: list[int]) -> None:
    model = small("complete")
    tokens, position, validity = encode(np.array([FACT]), np.array([1]), model.config)
    moved = tokens.clone()
    moved[:, [0, 2, 3, 4, 5, 6]] = tokens[:, order]
    assert same(model(moved, position, validity), model(tokens, position, validity))


@pytest.mark.parametrize("variant", ["hete", "homo", "complete"])
def test_padding_changes_nothing(variant: str) -> None:
    tight, wide = small(variant, max_arity=3), small(variant, max_arity=6)  # the same weights: no shape knows the arity
    for column in range(5):
        assert same(logits(tight, [0, 1, 2, 3, 4], column), logits(wide, [0, 1, 2, 3, 4], column))


# ------------------------------------------------------------------------------------------------------ training


def test_smoothed_loss_by_hand() -> None:
    config = ReferenceConfig(entities=3, relations=2, max_arity=2)  # tokens: 2 special, relations 2 3, entities 4 5 6
    scores = torch.tensor([[-1e6] * 4 + [0.0, math.log(2), 0.0]])
    # probabilities 1/4, 1/2, 1/4; labels 0.2, 0.6, 0.2: 0.4 * 2 ln 2 + 0.6 * ln 2 = 1.4 ln 2
    loss = smoothed_loss(scores, torch.tensor([5]), torch.tensor([False]), 0.4, 0.0, config)
    assert loss.item() == pytest.approx(1.4 * math.log(2), rel=1e-6)


@settings(max_examples=30)
@given(seed=st.integers(0, 1000), eps_entity=st.floats(0, 0.9), eps_relation=st.floats(0, 0.9))
def test_smoothed_loss_is_the_closed_form(seed: int, eps_entity: float, eps_relation: float) -> None:
    model, generator = small(), np.random.default_rng(seed)
    ids, columns = all_masks(
        np.concatenate([generator.integers(4, size=(3, 1)), generator.integers(7, size=(3, 2))], 1)
    )
    inputs, target = encode(ids, columns, SMALL), targets_of(ids, columns, SMALL)
    scores, relation = model(*inputs), is_relation(inputs[1], SMALL)
    losses = []
    for row, answer, is_rel in zip(scores, target, relation, strict=True):
        z, eps = (row[2:6], eps_relation) if is_rel else (row[6:], eps_entity)
        gold = row[answer]
        losses.append(z.logsumexp(0) - (1 - eps) * gold - eps / (len(z) - 1) * (z.sum() - gold))
    found = smoothed_loss(scores, target, relation, eps_entity, eps_relation, SMALL)
    assert found.item() == pytest.approx(torch.stack(losses).mean().item(), rel=1e-5)


def test_rate_at() -> None:
    assert rate_at(0, 1000, 5e-4) == 0
    assert rate_at(50, 1000, 5e-4) == pytest.approx(2.5e-4)
    assert rate_at(99, 1000, 5e-4) == pytest.approx(4.95e-4)  # just under the peak
    assert rate_at(100, 1000, 5e-4) == pytest.approx(4.5e-4)  # 0.9 of the peak
    assert rate_at(500, 1000, 5e-4) == pytest.approx(2.5e-4)
    assert rate_at(999, 1000, 5e-4) == pytest.approx(5e-4 / 1000)
    rates = [rate_at(step, 48_916, 5e-4) for step in range(48_916)]  # JF17K: the last step of the warm-up is 4,891
    assert max(rates) == rates[4_891] == pytest.approx(5e-4 * 48_910 / 48_916)
    assert rates[4_892] == pytest.approx(4.5e-4, rel=1e-4)


def test_adam_by_hand() -> None:
    parameter = nn.Parameter(torch.tensor([1.0], dtype=torch.float64))
    adam = ReferenceAdam([parameter])
    parameter.grad = torch.full_like(parameter, 0.5)
    adam.update(0.1)
    # m = 0.05, v = 0.00025, corrected rate = 0.1 * sqrt(0.001) / 0.1, decay = 0.01 * 0.1 * 1
    first = 1 - 0.001 - math.sqrt(0.001) * 0.05 / (math.sqrt(0.00025) + 1e-6)
    assert parameter.item() == pytest.approx(first, rel=1e-12)
    parameter.grad = torch.full_like(parameter, -0.5)
    adam.update(0.1)
    # m = 0.045 - 0.05 = -0.005, v = 0.00024975 + 0.00025
    step = 0.1 * math.sqrt(1 - 0.998001) / (1 - 0.81) * -0.005 / (math.sqrt(0.00049975) + 1e-6)
    assert parameter.item() == pytest.approx(first - 0.001 * first - step, rel=1e-12)


def test_clipping_is_over_all_parameters_together() -> None:
    parameters = [nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))]
    adam = ReferenceAdam(parameters)
    parameters[0].grad, parameters[1].grad = torch.tensor([3.0]), torch.tensor([4.0])
    adam.update(0.1)
    assert [moment.item() for moment in adam.first] == pytest.approx([0.06, 0.08])  # (3, 4) / 5 * (1 - 0.9)


def test_training_starts_still_and_learns() -> None:
    torch.manual_seed(0)
    model = ReferenceGran(SMALL)
    adam = ReferenceAdam(list(model.parameters()))
    ids, columns = all_masks(np.array([[0, 1, 2, 1, 3], [2, 4, 5, 3, 6]]))
    inputs, target = encode(ids, columns, SMALL), targets_of(ids, columns, SMALL)
    before = model.node_embedding.detach().clone()
    losses = []
    for step in range(200):
        losses.append(train_step(model, adam, inputs, target, (0.0, 0.0), rate_at(step, 200, 0.02)))
        if step == 1:  # [PAD] is never needed, yet decays like everything else; the rate is a twentieth of the peak
            torch.testing.assert_close(model.node_embedding[PAD], before[PAD] * (1 - 0.01 * 0.001), rtol=1e-7, atol=0)
    assert losses[0] == losses[1]  # the first update has rate 0
    assert losses[0] > 1.3
    assert losses[-1] < 0.1


# ------------------------------------------------------------------------------------------------------- ranking


def test_rank_all_by_hand() -> None:
    config = replace(SMALL, relations=2, entities=5, max_arity=3)
    model = ReferenceGran(config)
    with torch.no_grad():  # no fact matters: entities 0 1 2 3 4 score 5 4 3 2 1, relations 0 1 score 8 9
        model.head_norm.weight.zero_()
        model.output_bias.copy_(torch.tensor([99.0, 99, 8, 9, 5, 4, 3, 2, 1]))
    facts = np.array([[0, 4, 3]])
    known = known_answers([np.array([[0, 4, 0], [0, 4, 1], [0, 4, 3], [1, 2, 3]]), np.array([[0, 4, 2, 1, 0]])], config)
    assert known[2, (2, 8, 0, 0)] == {
        4,
        5,
        7,
    }  # (relation 0, entity 4, ?): the fact with a qualifier is another context
    # relation: 1 is ahead; subject: the last of five; object: 0 and 1 are known as well, so only 2 is ahead
    assert rank_all(model, facts, known).tolist() == [[2, 5, 2]]
    assert rank_all(model, facts, {}).tolist() == [[2, 5, 4]]
    assert rank_all(model, np.array([[0, 4, 2, 1, 0]]), known).tolist() == [[2, 5, 3, 1, 1]]


def test_ranks_do_not_depend_on_the_batch() -> None:
    model = small()
    facts = np.array([[0, 1, 2, 1, 3], [2, 4, 5, 3, 6], [1, 0, 0, 3, 3]])
    known = known_answers([facts], SMALL)
    assert (rank_all(model, facts, known, batch=4) == rank_all(model, facts, known)).all()
