"""The demo from beginning to end: shortened to a few steps, and as people run it."""

from pathlib import Path

import pytest
from apps.command import Nary
from runs.small import small_run, weights
from typer.testing import CliRunner

import nary as library
from nary.apps.cli.main import app

SHORT = ["--minutes", "0.03"]

STORED = {
    "Marie Curie | award received | ? | point in time: 1911": "Nobel Prize in Chemistry",
    "? | award received | Nobel Prize in Physics | point in time: 1921": "Albert Einstein",
    "Albert Einstein | award received | ?": "Nobel Prize in Physics",
    "Niels Bohr | country of citizenship | ?": "Denmark",
    "Werner Heisenberg | award received | Nobel Prize in Physics | point in time: ?": "1932",
    "Mother Teresa | award received | ? | point in time: 1979": "Nobel Peace Prize",
}
"""Everyday questions with part of a fact of train."""
HELD_OUT = {
    "C. V. Raman | award received | ?": "Nobel Prize in Physics",
    "Ernest Hemingway | award received | ?": "Nobel Prize in Literature",
    "Martin Luther King Jr. | award received | ?": "Nobel Peace Prize",
    "Kazuo Ishiguro | award received | ?": "Nobel Prize in Literature",
    "Jean-Paul Sartre | country of citizenship | ?": "France",
    "Nelson Mandela | country of citizenship | ?": "South Africa",
}
"""Everyday questions whose answers stand in test alone, so that they must be predicted."""


def test_the_demo_trains_ranks_asks_and_draws_and_can_be_repeated(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep me")
    for _ in range(2):
        result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path), *SHORT], catch_exceptions=False)
        assert result.exit_code == 0
    assert "Marie Curie | award received | ? | point in time: 1911" in result.output
    assert "known: Marie Curie | award received | Nobel Prize in Chemistry" in result.output
    assert "MRR" in result.output
    assert result.output.count("%") == 12  # four questions, three answers each
    assert (tmp_path / "fact.svg").read_text().startswith("<svg")
    assert (tmp_path / "run" / "parts" / "gran" / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "run" / "model" / "model.safetensors").is_file()
    assert (tmp_path / "mine.txt").read_text() == "keep me"


def test_a_run_that_no_demo_made_stays(nary: Nary, tmp_path: Path) -> None:
    small_run(tmp_path / "run", training__epochs=1)
    before = weights(tmp_path / "run")
    assert nary("demo", "--out", tmp_path, *SHORT).code == 2
    assert weights(tmp_path / "run") == before


def test_the_demo_of_two_minutes_answers_everyday_questions(nary: Nary, tmp_path: Path) -> None:
    assert nary("demo", "--out", tmp_path).code == 0
    model = library.load_model(tmp_path / "run")
    assert model.evaluate("test").metrics["entity"]["mrr"] >= 0.33
    stored = [model.predict(question).answers[0].name == answer for question, answer in STORED.items()]
    assert all(stored)  # looked up, however sure the model is
    predicted = [
        model.predict(question, known="mark").answers[0].name == answer for question, answer in HELD_OUT.items()
    ]
    assert sum(stored) + sum(predicted) >= 9
    data = model.dataset
    train = {str(fact) for fact in data.train.facts(data.vocabulary)}
    assert not any(
        model.find_facts(question.replace("?", answer)).facts[0].fact in train for question, answer in HELD_OUT.items()
    )


@pytest.mark.parametrize("option", ["--minutes=0", "--minutes=-1"])
def test_no_time_is_an_error(nary: Nary, tmp_path: Path, option: str) -> None:
    assert nary("demo", "--out", tmp_path, option).code == 2
