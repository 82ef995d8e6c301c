"""What a notebook or an interactive session shows: short reprs, HTML with escaped text, data frames, progress."""

import io
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from runs.small import SMALL, small_data

import nary
from nary.data.transforms.splits import split_dataset
from nary.html import Bar, table_html
from nary.progress import Bar as ProgressBar
from nary.tables import Strong, Table, left, right

HOSTILE = "<script>alert('x')</script>"
_SETTINGS: dict[str, Any] = {key.partition(".")[2]: value for key, value in SMALL.items()}


@pytest.fixture(scope="module")
def hostile() -> nary.TrainingResult:
    """A model whose names are markup."""
    facts = [nary.Fact(f"{HOSTILE}{i % 7}", f"<r{i % 3}>", f"&{i % 5}", [("<a>", f"'\"{i % 4}")]) for i in range(120)]
    data = split_dataset(nary.Dataset.from_facts("<data>", {"train": facts}))
    return nary.train(data, model="gran", eval_every=1, **_SETTINGS)


def results(model: nary.TrainedModel) -> Iterator[Any]:
    fact = next(iter(model.dataset))
    query = fact.query(nary.Position.parse("object"))
    yield model.predict(query)
    yield model.predict(query, known="only", k=1)
    yield from model.score([fact])
    yield model.suggest(nary.Fact(*fact.primary))
    yield model.explain(fact, "object")
    yield model.find_facts(query)
    yield model.similar(fact.subject)
    yield model.complete(nary.Query(fact.subject, nary.GAP, nary.GAP))


def test_reprs_are_one_short_line(hostile: nary.TrainingResult) -> None:
    model = hostile.model
    shown = [hostile, model, model.recipe, model.vocabulary, model.dataset, model.dataset.train, *results(model)]
    shown += [model.dataset.train.blocks[0], *model.reports, *(next(iter(model.dataset)),), model.rank("valid")[1]]
    for one in shown:
        assert len(repr(one)) < 300, type(one)
        assert "\n" not in repr(one)
    assert repr(nary.load("nobel").vocabulary) == "Vocabulary(2,636 entities, 16 relations)"


def test_html_is_well_formed_and_escaped(hostile: nary.TrainingResult) -> None:
    model = hostile.model
    fact = next(iter(model.dataset))
    query = fact.query(nary.Position.parse("object"))
    for one in [hostile, model, model.recipe, model.dataset, fact, query, *model.reports, *results(model)]:
        html = one._repr_html_()
        assert "<script" not in html, type(one)
        assert _Tags(html).is_balanced, type(one)


class _Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.is_balanced = True
        self.feed(html)
        self.is_balanced &= not self.open

    def handle_starttag(self, tag: str, attributes: object) -> None:
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        self.is_balanced &= bool(self.open) and self.open.pop() == tag


def test_a_table_with_a_bar() -> None:
    html = table_html(
        Table([*left("<name>"), *right("n")], [["a & b", Bar("50%", 0.5)], [Strong("c"), "1"]]), notes=["n"]
    )
    assert "&lt;name&gt;" in html
    assert "a &amp; b" in html
    assert "width: 50.0%" in html
    assert "<strong>c</strong>" in html
    assert Bar("", 7.0).share == 1.0


def test_results_are_sequences_texts_and_data_frames(hostile: nary.TrainingResult) -> None:
    for one in results(hostile.model):
        items = list(one)
        assert len(one) == len(items)
        assert not items or one[-1] == items[-1]
        frame = one.to_polars()
        assert frame.height == len(items)
        assert one.to_pandas().columns.tolist() == frame.columns
        assert pl.concat([frame, one.to_polars()]).height == 2 * len(items)
        assert len(str(one).splitlines()) >= 2 + len(items)


def test_the_frame_of_a_prediction_by_hand(hostile: nary.TrainingResult) -> None:
    fact = next(iter(hostile.model.dataset))
    prediction = hostile.model.predict(fact.query(nary.Position.parse("object")), k=2)
    first, second = prediction.to_polars().to_dicts()
    assert (first["rank"], second["rank"]) == (1, 2)
    assert first["query"] == prediction.query
    assert first["name"] == prediction.answers[0].name
    assert first["known"] is True
    assert prediction.answers[0].stored is not None
    assert (first["stored"], first["split"]) == (prediction.answers[0].stored.fact, prediction.answers[0].stored.split)


def test_a_report_is_a_data_frame(hostile: nary.TrainingResult) -> None:
    (report,) = hostile.model.reports
    frame = report.to_polars()
    assert frame.filter(pl.col("group") == "entity")["mrr"].item() == report.metrics["entity"]["mrr"]
    assert report.to_pandas().shape == frame.shape


def test_iterating_over_a_dataset_and_a_table() -> None:
    data = small_data()
    assert len(data) == len(list(data)) == len(data.facts)
    names = data.vocabulary
    for ids, fact in zip(data.train, data.train.facts(names), strict=True):
        subject, relation, object, qualifiers = ids
        assert (names.entities[subject], names.relations[relation], names.entities[object]) == fact.primary
        assert len(qualifiers) == len(fact.qualifiers)


def test_runs_are_compared(tmp_path: Path) -> None:
    for seed in (0, 1):
        result = nary.train(small_data(), model="gran", out=tmp_path / f"run{seed}", **{**_SETTINGS, "seed": seed})
        result.model.add_report(result.model.evaluate("test"), result.run_folder.model_path)
    comparison = nary.compare([tmp_path / "run0", tmp_path / "run1"])
    assert sorted(comparison.to_polars()["seed"]) == [0, 1]
    assert comparison.to_pandas().shape[0] == 2
    assert "run0" in comparison._repr_html_()
    assert repr(comparison) == "Comparison(2 runs on test)"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_a_bar_unless_asked_not_to(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {**_SETTINGS, "epochs": 1}

    def shown(**more: Any) -> str:
        monkeypatch.setattr(sys, "stderr", terminal := _Terminal())
        nary.train(small_data(), model="gran", **settings, **more)
        return terminal.getvalue()

    monkeypatch.setenv("TERM", "xterm")
    assert "instances/s" in shown()
    assert shown(progress=False) == ""
    monkeypatch.setenv("NARY_PROGRESS", "0")
    assert shown() == ""


def test_a_bar_that_is_delayed_does_not_flicker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := _Terminal())
    with ProgressBar("Ranking", delay=True) as bar:
        bar.update(1, 2)
    assert terminal.getvalue() == ""


def test_help_lists_every_public_name() -> None:
    assert nary.__doc__ is not None
    assert [name for name in nary.__all__ if f"``{name}``" not in nary.__doc__] == []
