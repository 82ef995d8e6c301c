"""``nary recipes`` as its users see it."""

from pathlib import Path

import pytest
from apps.command import Nary

from nary.recipe import choose_recipe, shipped_recipes


def test_all_recipes_and_those_of_a_model_are_listed_with_what_they_are(nary: Nary) -> None:
    listed = nary("recipes", "--json").json
    assert [one["name"] for one in listed] == list(shipped_recipes())
    assert all(one["about"] for one in listed)  # every file says what it is
    of_gran = nary("recipes", "gran").out
    assert "gran/nobel" in of_gran
    assert "ram/nobel" not in of_gran


@pytest.mark.parametrize("name", sorted(name for name in shipped_recipes() if name.endswith("/nobel")))
def test_a_recipe_is_shown_with_every_key(nary: Nary, name: str) -> None:
    outcome = {one.pop("key"): one for one in nary("recipes", name, "--json").json["keys"]}
    tables = choose_recipe("nobel", recipe=name).model_dump()
    assert {key: one["value"] for key, one in outcome.items()} == {
        f"{table}.{key}": value for table, settings in tables.items() for key, value in settings.items()
    }
    assert outcome["training.precision"]["may be"] == "auto, fp32, bf16"
    assert outcome["data.valid_fraction"]["may be"] == "number"
    assert outcome["evaluation.ties"]["meaning"].startswith("Which rank an answer gets")


def test_for_people(nary: Nary) -> None:
    shown = nary("recipes", "gran/nobel").out
    assert "Decoupled weight decay." in shown
    assert "Next: nary train DATA --recipe gran/nobel --set KEY=VALUE" in shown


def test_mistakes(nary: Nary, tmp_path: Path) -> None:
    for name, nearest in (("gram", "gran"), ("gran/nobell", "gran/nobel"), (str(tmp_path), "")):
        outcome = nary("recipes", name, "--json")
        assert outcome.code == 2
        assert nearest in (outcome.error["hint"] or "")
