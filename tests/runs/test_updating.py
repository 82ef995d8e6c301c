"""Models that grow, from a few facts to whole folders."""

import signal
from pathlib import Path

import pytest
import torch
from runs.small import dataset_of, small_data, small_recipe, small_run, start, stop, train_in, wait_until

from nary.errors import DataError, SettingError
from nary.facts import Fact, FactTable
from nary.facts.layout import SUBJECT
from nary.inference.slots import Slots
from nary.models.growth import grow
from nary.models.new_names import NewNames
from nary.runs import TrainedModel, load_model
from nary.runs.start_rows import standing_of, start_in_slots
from nary.runs.updating import update

# Ten people of each of two teams; a member of a team plays in its color and lives in its town.
_TEAMS = {"red": "Rome", "blue": "Bonn"}
_KNOWN = [
    fact
    for team, town in _TEAMS.items()
    for number in range(10)
    for fact in (
        Fact(f"{team} {number}", "plays in", team, [("since", f"{2000 + number}")]),
        Fact(f"{team} {number}", "lives in", town),
    )
]


@pytest.fixture(scope="module")
def people() -> TrainedModel:
    data = dataset_of(train=_KNOWN, valid=_KNOWN[:1])
    settings = {"model__hidden_dim": 32, "training__epochs": 120, "loss__entity_label_smoothing": 0.1}
    return train_in(None, data, small_recipe(data, **settings)).model


def probabilities(model: TrainedModel, query: str) -> dict[str, float]:
    return {answer.name: answer.probability for answer in model.predict(query, k=50).answers}


def test_a_new_entity_is_known_by_its_facts(people: TrainedModel) -> None:
    before = people.module.entity_embedding.detach().clone()
    result = update(people, ["Ann | plays in | red", "Ben | plays in | blue"])
    assert (result.update.facts, result.update.entities, result.update.relations) == (2, 2, 0)
    assert result.steps > 0
    assert result.model.vocabulary.entities[-2:] == ("Ann", "Ben")
    assert torch.equal(people.module.entity_embedding, before)
    assert torch.equal(result.model.module.entity_embedding[:-2], before)
    for name, team, other in (("Ann", "red", "blue"), ("Ben", "blue", "red")):
        lives_in = probabilities(result.model, f"{name} | lives in | ?")
        assert lives_in[_TEAMS[team]] > 2 * lives_in[_TEAMS[other]]
        players = {one: probabilities(result.model, f"? | plays in | {one}")[name] for one in _TEAMS}
        assert players[team] > 2 * players[other]
        assert result.model.predict(f"{name} | plays in | ?", k=1).answers[0].known


def test_a_new_relation_and_attribute(people: TrainedModel) -> None:
    members = [(f"{team} {number}", team, town) for team, town in _TEAMS.items() for number in range(9)]
    facts = [f"{member} | cheers for | {team} | at: {town}" for member, team, town in members]
    grown = people.with_facts(facts)
    assert grown.vocabulary.relations[-2:] == ("at", "cheers for")
    cheers_for = probabilities(grown, "blue 9 | cheers for | ? | at: Bonn")
    assert cheers_for["blue"] > 2 * cheers_for["red"]
    assert probabilities(grown, "red 0 | ? | red | at: Rome")["cheers for"] > 0.5


@pytest.fixture(scope="module")
def with_untrained_names() -> TrainedModel:
    """A model that knows two people and a relation by name, from facts that it was not trained on."""
    unknown = [
        Fact("Ann", "lives in", "Rome"),
        Fact("Ben", "lives in", "Bonn"),
        Fact("Cid", "cheers for", "red", [("at", "Rome")]),
    ]
    data = dataset_of(train=_KNOWN, valid=_KNOWN[:1], test=unknown)
    settings = {"model__hidden_dim": 32, "training__epochs": 120, "loss__entity_label_smoothing": 0.1}
    settings["training__learning_rate"] = 3e-3
    return train_in(None, data, small_recipe(data, **settings)).model


def changed_rows(model: TrainedModel, grown: TrainedModel, table: str) -> list[int]:
    """The rows that a model had before it was grown, and that are others now."""
    before = model.module.get_parameter(table)
    return (grown.module.get_parameter(table)[: len(before)] != before).any(1).nonzero()[:, 0].tolist()


def test_known_entities_without_training_facts_are_learned_as_new_ones(with_untrained_names: TrainedModel) -> None:
    model = with_untrained_names
    result = update(model, ["Ann | plays in | red", "Ben | plays in | blue", "Dan | plays in | blue"])
    assert (result.update.entities, result.update.relations) == (1, 0)
    assert result.notes == ["2 known names without training facts until now: 'Ann', 'Ben'"]
    grown = result.model
    assert changed_rows(model, grown, "entity_embedding") == [model.vocabulary.entity(name) for name in ("Ann", "Ben")]
    assert changed_rows(model, grown, "relation_embedding") == []
    for name, team in (("Ann", "red"), ("Ben", "blue")):
        before, after = (probabilities(one, f"? | plays in | {team}")[name] for one in (model, grown))
        assert after > 2 * before
    assert update(grown, ["Ann | lives in | Rome"]).steps == 0


def test_known_relations_without_training_facts_are_learned_as_new_ones(with_untrained_names: TrainedModel) -> None:
    model = with_untrained_names
    members = [(f"{team} {number}", team, town) for team, town in _TEAMS.items() for number in range(9)]
    grown = model.with_facts([f"{member} | cheers for | {team} | at: {town}" for member, team, town in members])
    assert changed_rows(model, grown, "relation_embedding") == [
        model.vocabulary.relation(name) for name in ("at", "cheers for")
    ]
    assert changed_rows(model, grown, "entity_embedding") == []
    before, after = (probabilities(one, "red 0 | ? | red | at: Rome")["cheers for"] for one in (model, grown))
    assert after > 2 * before


def test_names_are_matched_as_in_questions(people: TrainedModel) -> None:
    result = update(people, ["RED 1 | plays in | blue"])
    assert result.update.entities == 0
    assert result.model.find_facts("red 1 | plays in | blue").total == 1
    exact = update(people, dataset_of(train=[Fact("RED 1", "plays in", "blue")]))
    assert exact.model.vocabulary.entities[-1] == "RED 1"


def test_no_facts_change_nothing(people: TrainedModel) -> None:
    for facts in ([], [_KNOWN[0], _KNOWN[0]]):
        result = update(people, facts)
        assert (result.stored, result.steps, result.update.facts) == (len(facts), 0, 0)
        assert result.model.dataset.fingerprint == people.dataset.fingerprint
        assert result.model.updates == []
        old, new = people.module.state_dict(), result.model.module.state_dict()
        assert all(torch.equal(old[name], new[name]) for name in old)


def test_rules_count_the_new_facts(tmp_path: Path) -> None:
    model = small_run(tmp_path / "run", "rules", dataset_of(train=_KNOWN, valid=_KNOWN[:1]))
    grown = model.with_facts(["Ann | plays in | red", "red 0 | lives in | Oslo"])
    assert grown.predict("Ann | lives in | ?", k=1).answers[0].name == "Rome"
    assert grown.predict("red 0 | lives in | ?", k=2).answers[1].name in ("Rome", "Oslo")
    assert len(grown.find_facts("red 0 | lives in | ?").facts) == 2


def test_new_rows_start_at_the_mean_of_their_slots(people: TrainedModel) -> None:
    grown = update(people, ["Ann | plays in | red"]).model
    old_info = people.recipe.dataset_info(people.dataset)
    info = grown.recipe.dataset_info(grown.dataset)
    ann = old_info.num_entities
    names = NewNames.of(old_info, info, FactTable.from_facts([Fact("Ann", "plays in", "red")], grown.vocabulary))
    model, new_rows = grow(people.module, people.recipe.model, info, names)
    assert {name: rows.tolist() for name, rows in new_rows.items()} == {
        "entity_embedding": [ann],
        "output_bias": [old_info.num_relations + ann],
    }
    slots = Slots(people.dataset.train, info.num_entities, info.num_relations)
    start_in_slots(model, standing_of(names.entities, grown.dataset.train, slots), slots)
    players = [people.vocabulary.entity(fact.subject) for fact in _KNOWN if fact.relation == "plays in"]
    for rows, table in ((players, "entity_embedding"), ([old_info.num_relations + i for i in players], "output_bias")):
        expected = people.module.get_parameter(table)[rows].mean(0)
        torch.testing.assert_close(model.get_parameter(table)[new_rows[table][0]], expected)


def test_facts_longer_than_a_model_was_built_for(tmp_path: Path) -> None:
    longer = Fact("x", "plays in", "red", [("since", "2001"), ("since", "2002"), ("since", "2003")])
    data = dataset_of(train=_KNOWN, valid=_KNOWN[:1])
    gran = small_run(tmp_path / "gran", "gran", data, model__role_embeddings="position")
    assert gran.with_facts([longer]).predict("x | plays in | ? | since: 2001", k=1).answers
    for name in ("m-cp", "hsimple"):
        with pytest.raises(SettingError, match=f"{name} was trained on facts of at most 3 elements"):
            small_run(tmp_path / name, name, data, training__epochs=1).with_facts([longer])


def test_the_updates_of_a_model_are_stored_with_it(people: TrainedModel, tmp_path: Path) -> None:
    twice = people.with_facts(["Ann | plays in | red"]).with_facts(["Ben | plays in | blue", "Ben | knows | Ann"])
    twice.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.updates == twice.updates
    assert [(one.facts, one.entities, one.relations) for one in loaded.updates] == [(1, 1, 0), (2, 1, 1)]
    assert loaded.updates[0].fingerprint == people.dataset.fingerprint
    assert "2 facts with 1 new entity and 1 new relation" in (tmp_path / "model" / "README.md").read_text()
    assert loaded.predict("Ben | lives in | ?") == twice.predict("Ben | lives in | ?")
    assert loaded.with_facts(["Cid | knows | Ben"]).vocabulary.entities[-1] == "Cid"


def test_a_model_of_triples_takes_the_triples_of_new_facts(tmp_path: Path) -> None:
    model = small_run(tmp_path / "run", "gran", small_data(), data__qualifiers=False)
    result = update(
        model, [Fact("x", model.vocabulary.relations[0], model.vocabulary.entities[0], [("since", "1900")])]
    )
    assert result.model.dataset.train.arities.keys() == {2}
    assert result.model.vocabulary.entities[-1] == "x"


def test_killed_it_leaves_no_trace(tmp_path: Path) -> None:
    small_run(tmp_path / "run", "gran", small_data())
    files = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    process = start("update", tmp_path / "run", "x | y | z", "--out", tmp_path / "model")
    wait_until(lambda: any(tmp_path.glob(".model*")) or (tmp_path / "model").exists(), process)
    stop(process, signal.SIGKILL)
    assert {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()} == files
    if (tmp_path / "model").exists():
        assert load_model(tmp_path / "model").vocabulary.relations[-1] == "y"


def test_unseen_names_are_averages_and_said_to_be(people: TrainedModel) -> None:
    grown = people.with_unseen_names(
        ["Eve | lives in | ? | until: 2020", "Eve | knows | red 1", "EVE | plays in | Red"]
    )
    assert grown.vocabulary.entities[-3:] == ("2020", "EVE", "Eve")
    assert grown.vocabulary.relations[-2:] == ("knows", "until")
    assert grown.dataset.train == people.dataset.train
    subjects = people.dataset.train.take([i for i, fact in enumerate(_KNOWN) if fact.relation == "lives in"])
    rows = people.module.entity_embedding[subjects.blocks[0].ids[:, SUBJECT].astype("int64")]
    torch.testing.assert_close(grown.module.entity_embedding[-1], rows.mean(0))
    prediction = grown.predict("Eve | lives in | ?", k=2)
    assert prediction.notes[0] == "'Eve' is treated as the average subject of lives in"
    assert {answer.name for answer in prediction.answers} == set(_TEAMS.values())
    (scored,) = grown.score(["red 1 | lives in | 2020"])
    assert "'2020' is treated as the average entity" in scored.notes
    assert "'knows' is treated as the average relation" in grown.predict("Eve | knows | ?").notes
    with pytest.raises(DataError, match="unknown entity 'Eva'"):
        grown.predict("Eva | lives in | ?")
