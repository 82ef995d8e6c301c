"""Pictures of statistics."""

import sys
from pathlib import Path

import pytest

from nary.apps.plots import plot_statistics
from nary.data.dataset import Dataset
from nary.data.statistics import Statistics, statistics
from nary.data.synthetic import generate
from nary.errors import MissingExtraError, OutputError
from nary.facts import Fact, FactTable, Vocabulary


@pytest.fixture(scope="module")
def stats() -> Statistics:
    return statistics(generate(400, 50, relations=8))


def test_a_png(stats: Statistics, tmp_path: Path) -> None:
    plot_statistics(stats, tmp_path / "picture.PNG")
    assert (tmp_path / "picture.PNG").read_bytes().startswith(b"\x89PNG\r\n")
    assert [path.name for path in tmp_path.iterdir()] == ["picture.PNG"]


def test_an_svg_is_the_same_each_time_and_shows_the_counts(stats: Statistics, tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        plot_statistics(stats, tmp_path / name)
    text = (tmp_path / "one.svg").read_text(encoding="utf-8")
    assert text == (tmp_path / "two.svg").read_text(encoding="utf-8")
    assert "generated: 400 facts, 50 entities" in text  # matplotlib keeps texts as comments beside their outlines
    assert stats.top_relations[0][0] in text


def test_names_that_mean_something_to_matplotlib_and_many_arities(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    facts = [Fact("$x$", "costs $5 or $^", "漢字", [("年", f"{i}") for i in range(m)]) for m in range(12)]
    facts.append(Fact("$x$", "a name that is much too long to leave room for a picture beside it", "_"))
    entities = {name for f in facts for name in (f.subject, f.object, *(value for _, value in f.qualifiers))}
    vocabulary = Vocabulary.of(entities, {"年", *(fact.relation for fact in facts)}, {"年": "year"})
    toy = Dataset("$toy", vocabulary, {"train": FactTable.from_facts(facts, vocabulary)})
    plot_statistics(statistics(toy), tmp_path / "odd.svg")
    text = (tmp_path / "odd.svg").read_text(encoding="utf-8")
    assert "costs $5 or $^" in text
    assert "a name that is m…icture beside it" in text
    assert not recwarn.list


def test_an_unknown_kind_of_picture(stats: Statistics, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"cannot draw picture\.gif"):
        plot_statistics(stats, tmp_path / "picture.gif")


def test_where_nothing_can_be_written(stats: Statistics, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        plot_statistics(stats, tmp_path / "file" / "picture.png")


def test_without_matplotlib(stats: Statistics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)  # what an import of a missing module finds
    with pytest.raises(MissingExtraError, match=r"nary\[plots\]"):
        plot_statistics(stats, tmp_path / "picture.png")
