"""Formats and datasets of an installed package on the command line."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from apps.command import Nary

from nary.data.catalog import DATASETS
from nary.data.io import FORMATS

MODULE = '''
import nary
from nary.data.io import LineFormat, Record, make_record


class Arrows(LineFormat):
    extensions = (".arrows",)
    output_extension = ".arrows"

    def parse(self, line):
        subject, relation, object = line.split(" > ")
        return make_record(subject, relation, object, [])

    def format_line(self, record):
        return f"{record.subject} > {record.relation} > {record.object}"


@nary.register_dataset("ring", license="CC0", citation="none")
def ring():
    """Everybody knows the next one."""
    facts = [nary.Fact(f"e{i}", "knows", f"e{(i + 1) % 9}") for i in range(9)]
    return nary.Dataset.from_facts("ring", {"train": facts})
'''
ENTRY_POINTS = """
[nary.formats]
arrows = toy_plugin:Arrows
[nary.datasets]
ring = toy_plugin:ring
"""


@pytest.fixture(autouse=True)
def _installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package on the path, as pip would install it."""
    site = tmp_path / "site"
    (site / "toy_plugin-1.0.dist-info").mkdir(parents=True)
    (site / "toy_plugin.py").write_text(MODULE)
    (site / "toy_plugin-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: toy-plugin\nVersion: 1.0\n"
    )
    (site / "toy_plugin-1.0.dist-info" / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(site)
    monkeypatch.chdir(tmp_path)
    for registry in (FORMATS, DATASETS):
        registry.__dict__.pop("_entry_points", None)  # they are read once in the life of a process
        monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    yield
    sys.modules.pop("toy_plugin", None)
    for registry in (FORMATS, DATASETS):
        registry.__dict__.pop("_entry_points", None)


def test_a_format_is_converted_counted_and_checked(nary: Nary) -> None:
    Path("facts.tsv").write_text("Ada\tknows\tBob\nBob\tknows\tAda\n")
    assert nary("convert", "facts.tsv", "facts.arrows").code == 0
    assert Path("facts.arrows").read_text() == "Ada > knows > Bob\nBob > knows > Ada\n"
    assert json.loads(nary("stats", "facts.arrows", "--json").out)["facts"] == {"train": 2}
    Path("facts.txt").write_text("Ada > knows > Bob\n")
    assert json.loads(nary("stats", "facts.txt", "--format", "arrows", "--json").out)["facts"] == {"train": 1}
    assert json.loads(nary("check", "facts.txt", "--format", "arrows", "--json").out)["clean"]


def test_a_dataset_is_listed_and_described(nary: Nary) -> None:
    overview = {entry["name"]: entry for entry in json.loads(nary("datasets", "--json").out)}
    assert overview["ring"]["here"]
    assert overview["ring"]["description"] == "Everybody knows the next one."
    described = json.loads(nary("datasets", "ring", "--json").out)
    assert (described["facts"], described["license"]) == ({"train": 9}, "CC0")
    assert "license: CC0" in nary("datasets", "ring").out
    assert "ring" in nary("datasets").out


def test_a_dataset_is_trained_on_and_named_in_the_recipe(nary: Nary) -> None:
    arguments = ("--set", "training.epochs=1", "--set", "training.batch_size=4")
    outcome = nary("train", "ring", "--model", "frequency", "--out", "run", *arguments)
    assert outcome.code == 0, outcome.err
    assert 'name = "ring"' in Path("run/recipe.toml").read_text()
