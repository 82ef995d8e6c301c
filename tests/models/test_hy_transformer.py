"""Hy-Transformer: against a plain transformer, one statement at a time, and by what turning queries round means."""

import math

import pytest
import torch
from contracts.info import info_of
from contracts.model import ModelContract
from torch import Tensor

from nary.facts.layout import OBJECT, SUBJECT
from nary.models.batch import Batch, Group
from nary.models.hy_transformer import HyTransformer, HyTransformerSettings

INFO = info_of(30, 7, 5)
HEADS, WIDTH = 2, 8


_SMALL = {"num_layers": 2, "num_heads": 2, "hidden_dim": 16, "ffn_dim": 16}
_BY_HEART = {
    "model__num_layers": 1,
    "model__hidden_dim": 32,
    "model__ffn_dim": 64,
    "model__dropout": 0.0,
    "training__epochs": 100,
    "training__batch_size": 64,
    "training__learning_rate": 0.02,
    "training__weight_decay": 0.0,
}


class TestHyTransformer(ModelContract):
    name = "hy-transformer"
    settings = _SMALL
    order_free = False
    learns = _BY_HEART


class TestHyTransformerBySigmoid(ModelContract):
    name = "hy-transformer"
    settings = _SMALL | {"partial_embedding": True}
    order_free = False
    marks_partial = True
    loss = "bce"


@pytest.fixture
def model() -> HyTransformer:
    """With weights large enough that every term matters."""
    torch.manual_seed(0)
    made = HyTransformer(HyTransformerSettings(num_layers=2, num_heads=HEADS, hidden_dim=WIDTH, ffn_dim=12), INFO)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.4)
    return made.double().eval()


def group_of(qualifiers: int) -> Group:
    """A random fact for each masked column."""
    generator = torch.Generator().manual_seed(qualifiers)
    width = 3 + 2 * qualifiers
    ids = torch.randint(INFO.num_relations, (width, width), generator=generator)
    entities = [SUBJECT, OBJECT, *range(3 + qualifiers, width)]
    ids[:, entities] = torch.randint(INFO.num_entities, (width, len(entities)), generator=generator)
    return Group(ids, torch.arange(width))


def plain_scores(model: HyTransformer, ids: list[int], column: int) -> Tensor:
    """The scores of all candidates for one statement: subject, relation, object, then pairs, as one would write it."""
    weights = dict(model.named_parameters())
    m = (len(ids) - 3) // 2
    relation, subject, object = ids[:3]
    asked = column
    if column == SUBJECT:
        relation, subject, object, asked = relation + INFO.num_relations, object, subject, OBJECT
    tokens = {0: ("relation", relation), 1: ("entity", subject), 2: ("entity", object)}
    for i in range(m):
        tokens[3 + i] = ("relation", ids[3 + i])
        tokens[3 + m + i] = ("entity", ids[3 + m + i])
    rows = []
    for place, (kind, number) in sorted(tokens.items()):
        own = weights["mask_embedding"][0] if place == asked else weights[f"{kind}_embedding"][number]
        position = place if place < 3 else 3 + 2 * ((place - 3) % m) + (place - 3) // m  # a pair stands side by side
        rows.append(own + weights["role_embedding"][position])
    x = norm(torch.stack(rows), weights, "input_norm")
    for layer in ("layers.0", "layers.1"):
        x = norm(x + attend(x, weights, layer), weights, f"{layer}.attention_norm")
        inner = torch.nn.functional.gelu(linear(x, weights, f"{layer}.inner"))
        x = norm(x + linear(inner, weights, f"{layer}.outer"), weights, f"{layer}.outer_norm")
    found = linear(x[asked], weights, "head_transform")
    entity = column in (SUBJECT, OBJECT) or column >= 3 + m
    table = weights["entity_embedding"] if entity else weights["relation_embedding"][: INFO.num_relations]
    first = 2 * INFO.num_relations if entity else 0
    return table @ found + weights["output_bias"][first : first + len(table)]


def linear(x: Tensor, weights: dict[str, Tensor], name: str) -> Tensor:
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def norm(x: Tensor, weights: dict[str, Tensor], name: str) -> Tensor:
    centerd = x - x.mean(-1, keepdim=True)
    scaled = centerd / (centerd.square().mean(-1, keepdim=True) + 1e-12).sqrt()
    return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def attend(x: Tensor, weights: dict[str, Tensor], layer: str) -> Tensor:
    query, key, value = linear(x, weights, f"{layer}.projection").chunk(3, dim=1)
    size, parts = WIDTH // HEADS, []
    for head in range(HEADS):
        own = slice(head * size, (head + 1) * size)
        shares = (query[:, own] @ key[:, own].T / math.sqrt(size)).softmax(-1)
        parts.append(shares @ value[:, own])
    return linear(torch.cat(parts, 1), weights, f"{layer}.output")


@pytest.mark.parametrize("qualifiers", range(4))
def test_scores_are_those_of_a_plain_transformer(model: HyTransformer, qualifiers: int) -> None:
    group = group_of(qualifiers)
    for ids, column in zip(group.ids.tolist(), group.columns.tolist(), strict=True):
        batch = Batch([Group(torch.tensor([ids]), torch.tensor([column]))])
        kind = "entity" if batch.asks_entity[0] else "relation"
        expected = plain_scores(model, ids, column)
        torch.testing.assert_close(model.score(batch, kind)[0], expected, atol=1e-9, rtol=1e-9)


def test_a_subject_is_an_object_of_the_inverse_relation(model: HyTransformer) -> None:
    forth = Batch([Group(torch.tensor([[3, 0, 5, 2, 9]]), torch.tensor([OBJECT]))])  # 0 3 ? with 2: 9
    back = Batch([Group(torch.tensor([[3, 5, 0, 2, 9]]), torch.tensor([SUBJECT]))])  # ? 3 0 with 2: 9
    assert not torch.allclose(model.encode(forth), model.encode(back))
    with torch.no_grad():
        model.relation_embedding[INFO.num_relations :] = model.relation_embedding[: INFO.num_relations]
    torch.testing.assert_close(model.encode(forth), model.encode(back))


def test_what_is_hidden_is_turned_round_too(model: HyTransformer) -> None:
    hidden = torch.zeros(1, 5, dtype=torch.bool)
    hidden[0, OBJECT] = True
    ids = torch.tensor([[3, 5, 0, 2, 9]])
    asked = model.encode(Batch([Group(ids, torch.tensor([SUBJECT]), hidden)]))
    other = ids.clone()
    other[0, OBJECT] = 17
    assert torch.equal(model.encode(Batch([Group(other, torch.tensor([SUBJECT]), hidden)])), asked)
    assert not torch.allclose(model.encode(Batch([Group(ids, torch.tensor([SUBJECT]))])), asked)


def test_attention_is_told_by_the_positions_of_the_fact(model: HyTransformer) -> None:
    weights = model.attention(Batch([Group(torch.tensor([[3, 5, 0, 2, 9]]), torch.tensor([SUBJECT]))]))
    assert weights.shape == (1, 2, 5, 5)
    torch.testing.assert_close(weights[0, 0].sum(-1), torch.ones(5).double())
    looking = weights[0, 1].sum(-1)  # in the last layer only the masked subject looks
    torch.testing.assert_close(looking, torch.tensor([0.0, 1, 0, 0, 0]).double())
    with torch.no_grad():
        model.relation_embedding[INFO.num_relations :] = model.relation_embedding[: INFO.num_relations]
    forth = model.attention(Batch([Group(torch.tensor([[3, 0, 5, 2, 9]]), torch.tensor([OBJECT]))]))
    back = model.attention(Batch([Group(torch.tensor([[3, 5, 0, 2, 9]]), torch.tensor([SUBJECT]))]))
    order = [0, 2, 1, 3, 4]
    torch.testing.assert_close(back[:, :, order][..., order], forth)


def test_it_has_no_parameters_for_edges(model: HyTransformer) -> None:
    names = {name for name, _ in model.named_parameters()}
    assert not {name for name in names if "edge" in name}
    assert model.relation_embedding.shape == (2 * INFO.num_relations, WIDTH)
    assert model.candidates("relation")[0].shape == (INFO.num_relations, WIDTH)
