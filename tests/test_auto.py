"""``auto``: when it is trained, of what, and what a run of it holds."""

import os
import signal
from pathlib import Path

import pytest
from runs.small import dataset_of, small_data
from training.small import OnStep

import nary as library
from nary.auto import auto_recipe, is_auto
from nary.data.dataset import Dataset
from nary.errors import SettingError
from nary.facts import Fact
from nary.recipe import choose_recipe, gran_sizes
from nary.runs import BlendResult, InterruptedRun, load_model, resume


@pytest.fixture(scope="module")
def data() -> Dataset:
    return small_data(150)


def test_it_is_for_data_without_a_recipe_if_nothing_is_named(data: Dataset) -> None:
    assert is_auto(data, None, None, [])
    assert is_auto(data, None, None, ["data.valid_fraction", "evaluation.filter", "training.seed", "training.device"])
    assert not is_auto(data, None, None, ["training.epochs"])
    assert not is_auto(data, None, None, ["model.num_layers"])
    assert not is_auto(data, "gran", None, [])
    assert not is_auto(data, None, "gran/nobel", [])
    assert not is_auto(small_data(60), None, None, [])
    nobel = library.load("nobel")
    assert not is_auto(nobel, None, None, [])
    assert is_auto(nobel, "auto", None, ["training.epochs"])


def test_its_parts_have_sizes_by_the_number_of_facts(data: Dataset) -> None:
    recipe = auto_recipe(data, {"training.seed": 4, "data.qualifiers": False})
    rules, gran, tuples = recipe.parts
    assert (rules.model_name, gran.model_name) == ("rules", "gran")
    assert rules.model.model_dump()["joint_features"]
    assert tuples.model.model_dump()["init_mean"] == 0.5
    sizes = gran_sizes(150)
    assert gran.training.batch_size == tuples.training.batch_size == sizes["training.batch_size"]
    assert gran.training.qualifier_dropout == choose_recipe("nobel", "gran").training.qualifier_dropout > 0
    assert gran.training.eval_every == gran.training.epochs // 5
    assert {part.training.seed for part in recipe.parts} == {4}
    assert not gran.data.qualifiers


def test_valid_facts_are_held_out_if_there_are_none(data: Dataset) -> None:
    whole = {"train": data.train, "test": data.test}
    for splits, fraction in (({"train": data.facts}, None), (whole, 0.1), (data.splits, None)):
        recipe = auto_recipe(Dataset("mine", data.vocabulary, splits), {})
        assert recipe.data.valid_fraction == fraction


def test_in_python(data: Dataset) -> None:
    with pytest.warns(UserWarning, match="a blend of rules, gran and m-distmult is trained within 0.02 minutes"):
        result = library.train(data, minutes=0.02)
    assert isinstance(result, BlendResult)
    assert [part.name for part in result.parts] == ["rules", "gran", "m-distmult", "blend"]
    with pytest.raises(SettingError, match="unknown setting 'num_layers'"):
        library.train(data, model="auto", num_layers=1)


def test_interrupted_it_resumes(data: Dataset, tmp_path: Path) -> None:
    interrupt = OnStep(lambda report: report.step == 3 and os.kill(os.getpid(), signal.SIGINT))
    whole = auto_recipe(data, {})  # by steps: how many fit a time depends on the machine
    recipe = whole.with_parts([part.with_overrides({"training.max_steps": 5}) for part in whole.parts])
    with pytest.raises(InterruptedRun, match="gran: stopped after step 3; saved"):
        library.train(data, recipe=recipe, out=tmp_path / "run", callbacks=[interrupt])
    resume(tmp_path / "run")
    assert {path.name for path in (tmp_path / "run" / "parts").iterdir()} == {"rules", "gran", "m-distmult"}
    assert load_model(tmp_path / "run").name == "blend"


def test_what_a_fact_at_a_time_cannot_know() -> None:
    """Where someone lives follows from where the employer is: rules know it, and so does what is blended with them."""
    firms = [Fact(f"firm {i}", "located in", f"city {i % 8}") for i in range(40)]
    jobs = [Fact(f"person {i}", "works at", f"firm {i % 40}", [("since", str(2000 + i % 9))]) for i in range(160)]
    homes = [Fact(f"person {i}", "lives in", f"city {i % 40 % 8}") for i in range(160)]
    data = dataset_of(train=[*firms, *jobs, *homes[:120]], valid=homes[120:140], test=homes[140:])
    result = library.train(data, model="auto", minutes=0.05)
    metrics = result.model.evaluate("test").metrics
    assert metrics["subject/object"]["count"] == 40
    answers = result.model.predict("person 150 | lives in | ?", k=1).answers
    assert answers[0].name == f"city {150 % 40 % 8}"
