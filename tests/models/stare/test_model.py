"""STARE against the plain reference, and the laws that follow from how it is built."""

import pytest
import torch
from contracts.info import info_of
from contracts.losses import loss_on
from hypothesis import given, settings
from hypothesis import strategies as st
from models.stare.small import INFO, every_group, facts, group_of, make, renamed, twin_of
from reference.stare import ReferenceStare, multi_hot, questions_of
from torch import Tensor, nn

from nary.errors import SettingError
from nary.facts import Role
from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, SUBJECT
from nary.models.batch import Batch, Group
from nary.models.stare.model import Stare, StareSettings
from nary.training.runtime import precision


def subjects_and_objects(seed: int) -> list[Group]:
    return [group_of(facts(seed), qualifiers, SUBJECT, OBJECT) for qualifiers in range(4)]


def plain_scores(twin: ReferenceStare, groups: list[Group]) -> Tensor:
    parts = [questions_of(group.ids.numpy(), group.columns.numpy(), twin.config) for group in groups]
    return twin(*(torch.cat(part) for part in zip(*parts, strict=True)))


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), training=st.booleans())
def test_scores_are_those_of_the_reference(seed: int, training: bool) -> None:
    groups, model = subjects_and_objects(seed), make(facts(seed))
    twin = twin_of(model, facts(seed))
    model.encode(Batch(groups)), plain_scores(twin, groups)  # what the norms remember are the same batches
    model.train(training), twin.train(training)
    torch.testing.assert_close(model.score(Batch(groups), "entity"), plain_scores(twin, groups), rtol=1e-6, atol=1e-6)


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), smoothing=st.sampled_from([0.0, 0.1]))
def test_loss_and_gradients_are_those_of_the_reference(seed: int, smoothing: float) -> None:
    groups, model = subjects_and_objects(seed), make(facts(seed))
    twin = twin_of(model, facts(seed))
    batch = Batch(groups)
    rows = torch.arange(len(batch)).repeat_interleave(2)
    answers = torch.stack([batch.answers, (batch.answers + 5) % INFO.num_entities], 1).flatten()
    loss = loss_on(model, batch, (rows, answers), loss="bce", entity_label_smoothing=smoothing)
    labels = multi_hot(rows, answers, (len(batch), INFO.num_entities), smoothing)
    expected = nn.functional.binary_cross_entropy_with_logits(plain_scores(twin, groups), labels.double())
    torch.testing.assert_close(loss.double(), expected, rtol=1e-6, atol=1e-6)
    loss.backward(), expected.backward()
    found = {name: torch.zeros_like(p) if p.grad is None else p.grad for name, p in model.named_parameters()}
    theirs = dict(twin.named_parameters())
    for name, gradient in renamed(model, found):
        torch.testing.assert_close(gradient, theirs[name].grad, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("qualifiers", [0, 2, 3])
def test_other_questions_are_answered_from_the_token_of_what_they_ask_for(qualifiers: int) -> None:
    model = make().eval()
    twin = twin_of(model, facts())
    entities, relations = twin.encode()
    halves = torch.arange(8).view(-1, 2).T.flatten()
    mask, positions = model.decoder.mask[:, halves], model.decoder.positions[:, halves]
    asked = [0, *range(FIRST_ATTRIBUTE, FIRST_ATTRIBUTE + 2 * qualifiers)]
    group = group_of(facts(), qualifiers, *asked)
    for ids, column in zip(group.ids, group.columns.tolist(), strict=True):
        pairs = [(FIRST_ATTRIBUTE + i, FIRST_ATTRIBUTE + qualifiers + i) for i in range(qualifiers)]
        columns = [SUBJECT, 0, OBJECT, *(place for pair in pairs for place in pair)]
        of_relation = [place == 0 or FIRST_ATTRIBUTE <= place < FIRST_ATTRIBUTE + qualifiers for place in columns]
        tokens = [(relations if r else entities)[ids[place]] for r, place in zip(of_relation, columns, strict=True)]
        tokens[columns.index(column)] = mask[0]
        x = torch.stack(tokens)[None] + positions[: len(tokens)]
        for layer in twin.layers:
            x = layer(x)
        relation_asked = of_relation[columns.index(column)]
        candidates = relations[: INFO.num_relations] if relation_asked else entities[: INFO.num_entities]
        expected = twin.output(x[:, columns.index(column)]) @ candidates.T
        one = Batch([Group(ids[None], torch.tensor([column]))])
        found = model.score(one, "relation" if relation_asked else "entity")
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)


def test_without_padding_both_means_are_the_same() -> None:
    padded, mean = make(padded_qualifiers=2).eval(), make(pooling="mean").eval()
    mean.load_state_dict(
        {
            name: tensor[: len(mean.state_dict()[name])] if name.endswith("_embedding") else tensor
            for name, tensor in padded.state_dict().items()
        }
    )

    def equal(qualifiers: int) -> bool:
        batch = Batch([group_of(facts(), qualifiers, SUBJECT, OBJECT)])
        return torch.allclose(padded.score(batch, "entity"), mean.score(batch, "entity"))

    assert [equal(qualifiers) for qualifiers in range(4)] == [False, False, True, True]


def test_a_subject_is_the_object_of_the_inverse_relation() -> None:
    """So with a relation whose vector is that of its inverse, the two ends of a fact can be exchanged."""
    model = make(variant="transformer").eval()
    with torch.no_grad():
        model.relation_embedding[5:10] = model.relation_embedding[:5]
    ids = torch.tensor([[1, 2, 3, 4, 5]])
    subject = model.score(Batch([Group(ids, torch.tensor([SUBJECT]))]), "entity")
    object = model.score(Batch([Group(ids[:, [0, 2, 1, 3, 4]], torch.tensor([OBJECT]))]), "entity")
    assert torch.equal(subject, object)


def test_hidden_elements_are_not_looked_at() -> None:
    model = make().eval()
    group = group_of(facts(), 2, *range(7))
    for column in range(7):
        hidden = torch.zeros_like(group.ids, dtype=torch.bool)
        hidden[:, column] = True
        other = group.ids.clone()
        other[:, column] = (other[:, column] + 1) % INFO.num_relations
        one, two = (model.encode(Batch([Group(ids, group.columns, hidden)])) for ids in (group.ids, other))
        assert torch.equal(one, two)
        seen = group.columns != column
        assert not torch.isclose(one, model.encode(Batch([group])))[seen].all(1).any()


def test_more_qualifiers_than_ever_seen() -> None:
    model = make().eval()
    ids = torch.tensor([[0, 1, 2, *[3] * 9, *[4] * 9]])
    for column in (OBJECT, FIRST_ATTRIBUTE + 8, FIRST_ATTRIBUTE + 17):
        assert model.encode(Batch([Group(ids, torch.tensor([column]))])).isfinite().all()


def test_entities_without_facts_are_still_told_apart() -> None:
    table = facts(counts=(3,))
    model = make(table).eval()
    alone = sorted(set(range(INFO.num_entities)) - {int(e) for block in table.blocks for e in block.entities.ravel()})
    vectors = model.candidates("entity")[0][alone]
    assert len(alone) > 1
    assert len(vectors.unique(dim=0)) == len(alone)


@pytest.mark.parametrize("predicts", ["all", "subject-object"])
def test_what_it_predicts(predicts: str) -> None:
    model = make(predicts=predicts)
    assert model.roles == (frozenset(Role) if predicts == "all" else {Role.SUBJECT, Role.OBJECT})
    assert model.supports_multiple_masks == (predicts == "all")


def test_as_many_parameters_as_published() -> None:
    info = info_of(28645, 501, 6, facts())
    with torch.device("meta"):
        counts = {
            variant: sum(p.numel() for p in Stare(StareSettings(variant=variant), info).parameters())
            for variant in ("graph", "transformer")
        }
    assert {variant: round(count / 1e6, 1) for variant, count in counts.items()} == {"graph": 7.1, "transformer": 6.7}


@pytest.mark.parametrize(
    ("changed", "message"), [({"hidden_dim": 7}, "complex"), ({"num_heads": 3}, "3 heads cannot share")]
)
def test_a_width_that_cannot_be_divided_is_refused(changed: dict[str, int], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        make(**changed)


def test_relations_start_as_rotations_there_and_back() -> None:
    model = Stare(StareSettings(), INFO)
    there, back = (torch.view_as_complex(part.view(5, -1, 2)) for part in model.relation_embedding[:10].split(5))
    torch.testing.assert_close(there * back, torch.ones_like(there))
    assert not model.relation_embedding[10].any()
    assert not model.entity_embedding[-1].any()


def test_positions_start_as_large_as_they_are_told() -> None:
    torch.manual_seed(0)
    for start in (1.0, 0.05):
        decoder = Stare(StareSettings(position_init_std=start), INFO).decoder
        assert decoder.positions.std().item() == pytest.approx(start, rel=0.1)


@pytest.mark.parametrize("variant", ["graph", "transformer"])
def test_bfloat16_stays_close_to_float32(variant: str) -> None:
    model = make(variant=variant, hidden_dim=32).float()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(0.3)
    batch = every_group(facts())
    exact = loss_on(model, batch, loss="bce", entity_label_smoothing=0.1)
    with precision("bf16", torch.device("cpu")):
        rounded = loss_on(model, batch, loss="bce", entity_label_smoothing=0.1)
    assert float((rounded - exact).detach().abs()) < 0.01 * float(exact.detach())
    rounded.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
