"""``data.qualifiers = false``: the same facts as triples, from training to answers."""

from pathlib import Path
from typing import Any

import pytest
from runs.small import SMALL, dataset_of, small_data, small_recipe, small_run, train_in

from nary.errors import FactError
from nary.facts import Fact
from nary.models.registry import MODELS
from nary.recipe import choose_recipe
from nary.runs import load_model

TRAIN = [
    Fact("Ada", "won", "Prize", [("in", "1901")]),
    Fact("Ada", "won", "Prize", [("in", "1902")]),
    Fact("Ben", "won", "Prize", [("in", "1901")]),
    Fact("Ben", "won", "Medal"),
]
TEST = [Fact("Ada", "won", "Medal", [("in", "1902")]), Fact("Ada", "won", "Medal", [("in", "1901")])]


def small(name: str, **changed: Any) -> dict[str, Any]:
    """Settings of a small model of that name."""
    model_class = MODELS.get(name)
    sizes = {"num_layers": 1, "num_heads": 2, "hidden_dim": 16, "ffn_dim": 16, "rank": 4}
    model = {f"model__{key}": value for key, value in sizes.items() if key in model_class.settings_class.model_fields}
    if name == "blend":
        model = {"model__parts": ["rules", "frequency"]}
    return {**model, "loss__name": min(model_class.losses), **changed}


@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_model_learns_from_triples(name: str, tmp_path: Path) -> None:
    data = small_data()
    settings = small(name, data__qualifiers=False, training__epochs=1)
    run = small_run(tmp_path / "run", name, data, **settings)
    assert run.dataset.facts.arities == {2: len(data.facts)}
    report = run.evaluate("test")
    assert report.metrics["subject/object"]["count"] == 2 * len(data.test)  # one a fact, also where triples are equal
    assert not {"value", "attribute"} & set(report.metrics)
    assert report.notes[0].startswith("Qualifiers are left out")


def test_equal_triples_are_learned_from_once_and_asked_each(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", "frequency", dataset_of(train=TRAIN, test=TEST), data__qualifiers=False)
    ids = run.dataset.vocabulary.entity_ids
    counted = run.module.get_buffer("entity_overall")
    found = {name: int(counted[ids[name]]) for name in ("Ada", "Ben", "Prize", "Medal", "1901")}
    assert found == {"Ada": 1, "Ben": 2, "Prize": 2, "Medal": 1, "1901": 0}
    report, ranks = run.rank("test")
    assert len(ranks) == 6  # two facts, three elements each, though they are one triple
    # By how often each wins: Ben 2, Ada 1. Ben has won the Medal, which the triples of train say: he is passed over.
    assert report.metrics["subject/object"]["mrr"] == 1.0
    assert ranks.filtered.tolist() == [0, 1, 1, 0, 1, 1]


def test_both_splits_learned_from_are_made_distinct_together(tmp_path: Path) -> None:
    data = dataset_of(train=TRAIN, valid=TRAIN[:2], test=TEST)
    run = small_run(tmp_path / "run", "frequency", data, data__qualifiers=False, data__train_on=["train", "valid"])
    assert run.module.get_buffer("relation_overall").max() == 3


def test_it_is_part_of_the_run(tmp_path: Path) -> None:
    data = small_data()
    recipe = small_recipe(data, data__qualifiers=False)
    trained = train_in(tmp_path / "run", data, recipe).model
    assert trained.dataset.notes[-1].startswith("Qualifiers are left out. Distinct triples:")
    again = load_model(tmp_path / "run")
    assert again.triples_only
    assert again.recipe is not None
    assert again.recipe.as_tables()["data"]["qualifiers"] is False
    assert again.evaluate("test").metrics == trained.evaluate("test").metrics
    assert choose_recipe("mine", overrides=SMALL).data.qualifiers


def test_other_facts_lose_their_qualifiers_too(tmp_path: Path) -> None:
    data = small_data()
    run = small_run(tmp_path / "run", dataset=data, data__qualifiers=False)
    assert max(data.test.arities) > 2
    assert run.evaluate(data.test).metrics == run.evaluate("test").metrics
    whole = small_run(tmp_path / "whole", dataset=data)
    assert whole.without_unused_qualifiers(data.test) is data.test


def test_qualifiers_are_refused_in_questions(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", dataset=dataset_of(train=TRAIN, test=TEST), data__qualifiers=False)
    assert run.predict("Ada | won | ?").answers
    for ask in (
        lambda: run.predict("Ada | won | ? | in: 1901"),
        lambda: run.predict("Ada | won | Prize | in: ?"),
        lambda: run.score(["Ada | won | Prize | in: 1901"]),
        lambda: run.explain("Ada | won | Prize | in: 1901", "object"),
    ):
        with pytest.raises(FactError, match="gran knows no qualifiers: it was trained on triples alone") as caught:
            ask()
        assert caught.value.hint == "Leave the qualifiers out."
    suggested = run.suggest("Ada | won | Prize")
    assert (suggested.suggestions, suggested.notes[-1]) == (
        [],
        "no training fact with the relation won has a further attribute",
    )
    assert run.score(["Ada | won | Prize"])[0].known  # with whatever qualifiers it was


def test_known_answers_are_those_of_triples(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run", dataset=dataset_of(train=TRAIN, test=TEST), data__qualifiers=False)
    known = {answer.name for answer in run.predict("Ada | won | ?").answers if answer.known}
    assert known == {"Prize", "Medal"}
