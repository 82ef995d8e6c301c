"""A package with a model, a loss, a metric, a format and a dataset, installed and used on the command line."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from apps.command import Outcome

import nary

PACKAGE = Path(__file__).parent / "plugins" / "nary-example"
DRIVER = """
import contextlib, io, json, sys
from nary.apps.cli.main import main

for line in sys.stdin:
    sys.argv, out, err = ["nary", *json.loads(line)], io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as exit:
            code = exit.code
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""
TRAINING = (
    "--model",
    "translation",
    "--set",
    "loss.name=hinge",
    "--set",
    "loss.margin=0.5",
    "--set",
    "training.epochs=3",
)
SMALL_STEPS = (
    "--set",
    "training.batch_size=8",
    "--set",
    "training.learning_rate=0.01",
    "--set",
    "training.eval_every=1",
)

Run = Callable[..., Outcome]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the package is installed in."""
    folder = tmp_path_factory.mktemp("plugins")
    # A copy, because building leaves files next to the sources.
    for file in PACKAGE.iterdir():
        if file.is_file():
            (folder / "source" / file.name).parent.mkdir(exist_ok=True)
            (folder / "source" / file.name).write_bytes(file.read_bytes())
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index")
    options = ("--no-deps", "--no-build-isolation", "--target", str(folder / "site"), str(folder / "source"))
    installed = subprocess.run([*pip, *options], capture_output=True, text=True)
    assert installed.returncode == 0, installed.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands run."""
    return tmp_path_factory.mktemp("work")


@contextmanager
def commands_in(folder: Path, *paths: Path) -> Iterator[Run]:
    """Run commands in a process of their own, with ``paths`` to import from."""
    sources = Path(nary.__file__).parent.parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [*paths, sources])), "COLUMNS": "200"}
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def run(*arguments: object) -> Outcome:
            assert process.stdin
            assert process.stdout
            process.stdin.write(json.dumps([str(argument) for argument in arguments]) + "\n")
            process.stdin.flush()
            return Outcome(*json.loads(process.stdout.readline()))

        yield run  # leaving the block closes standard input, which ends the process


@pytest.fixture(scope="module")
def with_package(folder: Path, site: Path) -> Iterator[Run]:
    with commands_in(folder, site) as run:
        yield run


@pytest.fixture(scope="module")
def without_package(folder: Path) -> Iterator[Run]:
    with commands_in(folder) as run:
        yield run


@pytest.fixture(scope="module")
def trained(with_package: Run) -> Outcome:
    """The command that trains the model of the package with its loss on its dataset, in the folder ``run``."""
    outcome = with_package("train", "ring", *TRAINING, *SMALL_STEPS, "--out", "run")
    assert outcome.code == 0, outcome.err
    return outcome


def test_the_model_is_listed_and_described(with_package: Run) -> None:
    assert "a sum of the vectors of a fact" in with_package("models").out
    described = with_package("models", "translation", "--data", "ring", "--json").json
    assert described["settings"] == {"name": "translation", "embedding_dim": 16}
    assert described["parameters"] == 16 * (24 + 2 + 2)


def test_the_dataset_is_listed_and_described(with_package: Run) -> None:
    overview = {entry["name"]: entry for entry in with_package("datasets", "--json").json}
    assert overview["ring"]["here"]
    assert overview["ring"]["description"].startswith("People in a ring")
    described = with_package("datasets", "ring", "--json").json
    assert (described["facts"], described["license"]) == ({"train": 48}, "CC0")
    assert "ring" in with_package("datasets").out
    assert "license: CC0" in with_package("datasets", "ring").out


@pytest.mark.usefixtures("trained")
def test_the_recipe_names_model_loss_and_dataset(folder: Path) -> None:
    recipe = (folder / "run" / "recipe.toml").read_text()
    assert 'name = "ring"' in recipe
    assert 'name = "translation"' in recipe
    assert 'name = "hinge"\nmargin = 0.5' in recipe


@pytest.mark.usefixtures("trained")
def test_the_metric_is_in_every_report(folder: Path, with_package: Run) -> None:
    assert "Median" in with_package("evaluate", "run").out
    assert with_package("evaluate", "run", "--json").json["metrics"]["entity"]["median"] >= 1
    assert "median" in (folder / "run" / "model" / "metrics.json").read_text()


@pytest.mark.usefixtures("trained")
def test_the_saved_model_is_used(with_package: Run) -> None:
    for path in ("run", "run/model"):
        prediction = with_package("predict", path, "person 3 | knows 1 | ?", "-k", 3, "--json").json
        assert len(prediction["answers"]) == 3
    assert with_package("train", "--resume", "run").code == 0
    assert with_package("score", "run", "person 3 | knows 1 | person 4").code == 0


def test_the_format_is_converted_counted_and_checked(folder: Path, with_package: Run) -> None:
    (folder / "facts.tsv").write_text("Ada\tknows\tBob\nBob\tknows\tAda\n")
    assert with_package("convert", "facts.tsv", "facts.arrows").code == 0
    assert (folder / "facts.arrows").read_text() == "Ada > knows > Bob\nBob > knows > Ada\n"
    assert with_package("stats", "facts.arrows", "--json").json["facts"] == {"train": 2}
    (folder / "facts.txt").write_text("Ada > knows > Bob\n")
    assert with_package("stats", "facts.txt", "--format", "arrows", "--json").json["facts"] == {"train": 1}
    assert with_package("check", "facts.txt", "--format", "arrows", "--json").json["clean"]
    (folder / "bad.arrows").write_text("Ada > knows > Bob\nAda > knows\n")
    refused = with_package("stats", "bad.arrows")
    assert refused.code == 2
    assert "bad.arrows:2: expected 3 elements, got 2" in refused.err


@pytest.mark.usefixtures("trained")
@pytest.mark.parametrize("path", ["run", "run/model"])
def test_a_model_without_its_package_is_an_error(without_package: Run, path: str) -> None:
    refused = without_package("predict", path, "person 3 | knows 1 | ?")
    assert refused.code == 2
    assert "unknown model 'translation'" in refused.err
    assert "Traceback" not in refused.err
    error = without_package("evaluate", path, "--json").error
    assert "config.json" in json.dumps(error)


def test_names_are_unknown_without_the_package(without_package: Run) -> None:
    assert "unknown model 'translation'" in without_package("train", "nobel", "--model", "translation").err
    assert "unknown loss 'hinge'" in without_package("train", "nobel", "--set", "loss.name=hinge").err
    assert "no dataset is called 'ring'" in without_package("datasets", "ring").err
    assert without_package("stats", "facts.txt", "--format", "arrows").code == 2
