"""The scores of the models of tuples, against their printed formulas."""

import pytest
import torch
from models.tuples.naive import naive_score
from models.tuples.small import DISTANCES, INFO, MODELS, SETTINGS, facts, groups, make, scores

from nary.models.batch import Batch, Group
from nary.models.tuples.schemas import Tuples


@pytest.mark.parametrize("arity", [2, 3, 4, 5])
@pytest.mark.parametrize("name", MODELS)
def test_every_candidate_in_every_slot_scores_as_the_formula_says(name: str, arity: int) -> None:
    model_name, settings = MODELS[name]
    table = facts()
    model = make(model_name, table, **settings)
    (group,) = groups(table.take(table.blocks[arity - 2].rows[:1]))
    own, found = Tuples.of(group), scores(model, group)
    assert sorted(own.slots.tolist()) == list(range(arity))
    for row, slot in enumerate(own.slots.tolist()):
        relations, entities = own.schemas[row].tolist(), own.entities[row].tolist()
        expected = [
            naive_score(model, relations, [*entities[:slot], candidate, *entities[slot + 1 :]], slot)
            for candidate in range(INFO.num_entities)
        ]
        torch.testing.assert_close(found[row], torch.tensor(expected, dtype=torch.float64), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_whole_facts_score_what_their_elements_do(name: str) -> None:
    model_name, settings = MODELS[name]
    model = make(model_name, **settings)
    for group in groups(facts()):
        asked = scores(model, group).gather(1, group.answers[:, None])[:, 0]
        whole = model.fact_scores(group.ids)
        # The tensor models normalize what is known, so only for the subject both are the same.
        same = group.columns == 1 if model_name in ("getd", "n-tucker") else torch.ones_like(group.columns).bool()
        torch.testing.assert_close(asked[same], whole[same].detach(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_a_mixed_batch_scores_like_its_groups(name: str) -> None:
    model_name, settings = MODELS[name]
    model = make(model_name, **settings)
    apart = [scores(model, group) for group in groups(facts())]
    torch.testing.assert_close(scores(model, *groups(facts())), torch.cat(apart), rtol=1e-9, atol=1e-9)


def test_a_core_that_would_be_too_large_is_that_of_a_model_with_the_first_coordinates() -> None:
    table = facts((4,))
    wide, narrow = (
        make("n-tucker", table, embedding_dim=5, max_core_size=3**5),
        make("n-tucker", table, embedding_dim=3),
    )
    assert wide.core_4.shape == narrow.core_4.shape == (3,) * 5  # type: ignore[union-attr]
    state = narrow.state_dict()
    for key, tensor in wide.state_dict().items():
        if tensor.is_floating_point():
            state[key].copy_(tensor if key.startswith("core") else tensor[..., :3])
    torch.testing.assert_close(scores(wide, *groups(table)), scores(narrow, *groups(table)), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", SETTINGS)
def test_bfloat16_stays_close(name: str) -> None:
    model = make(name)
    with torch.no_grad():  # nothing to cancel: rounding is small against the terms of a sum, not against any sum
        for parameter in model.parameters():
            parameter.abs_()
        for key, tensor in model.named_buffers():
            if key.endswith("running_mean"):
                tensor.zero_()
    for group in groups(facts()):
        exact = model.double().fact_scores(group.ids)
        with torch.autocast("cpu", torch.bfloat16):
            rounded = model.float().fact_scores(group.ids)
        torch.testing.assert_close(rounded.double(), exact, rtol=0.05, atol=0)


def test_distances_are_made_without_a_vector_for_each_candidate() -> None:
    for name in DISTANCES:
        with pytest.raises(NotImplementedError, match="without query vectors"):
            make(name).encode(Batch(groups(facts())))
        with pytest.raises(NotImplementedError, match="without a table"):
            make(name).candidates("entity")


def test_hype_does_not_read_every_other_coordinate() -> None:
    model = make("hype")
    assert model.candidates("entity")[0].shape == (INFO.num_entities, 4)
    before = scores(model, *groups(facts()))
    with torch.no_grad():
        model.entity[:, 1::2] += 1
    assert torch.equal(scores(model, *groups(facts())), before)


def test_m_distmult_does_not_see_the_order_of_slots() -> None:
    (group,) = groups(facts((2,)))
    turned = Group(group.ids[:, [0, 2, 1]], 3 - group.columns)
    for name, same in (("m-distmult", True), ("hsimple", False), ("m-cp", False), ("hype", False), ("ram", False)):
        model = make(name, facts((2,)))
        assert torch.allclose(scores(model, group), scores(model, turned), rtol=1e-12, atol=1e-12) == same, name
