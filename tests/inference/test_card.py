"""The model card: true to the folder, equal for equal models, and only text where names stand."""

import re
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
import yaml
from runs.small import dataset_of, small_data, small_run

from nary.data.dataset import Dataset
from nary.facts import Fact, Vocabulary
from nary.runs import TrainedModel, load_model


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    return small_run(tmp_path_factory.mktemp("card") / "run", training__epochs=1, training__seed=7)


def card_of(folder: Path) -> str:
    return (folder / "README.md").read_text("utf-8")


def metadata_of(text: str) -> dict[str, Any]:
    """The YAML between the first two lines of dashes, as the hub reads it."""
    _, metadata, _ = text.split("---\n", 2)
    return yaml.safe_load(metadata)


def test_it_says_what_the_folder_holds(run: TrainedModel, tmp_path: Path) -> None:
    run.save(tmp_path / "model")
    text = card_of(tmp_path / "model")
    assert metadata_of(text) == {"library_name": "nary", "pipeline_tag": "graph-ml", "tags": ANY}
    assert "\n---\n\n# gran on generated\n" in text
    for split, table in run.dataset.splits.items():
        assert f"| {split} | {len(table)} |" in text
    assert "20 entities, 6 relations." in text
    assert run.dataset.fingerprint in text
    assert f"{sum(parameter.numel() for parameter in run.module.parameters()):,} parameters" in text
    assert "Trained on train with this recipe:" in text
    assert "\n    seed = 7\n" in text
    assert "does not know the license of the data" in text
    assert "Not evaluated yet" in text
    assert text.count("\n## ") == 6


def test_it_shows_the_figures_of_every_kept_report(run: TrainedModel, tmp_path: Path) -> None:
    run.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    for split in ("valid", "test"):
        again.add_report(again.evaluate(split), tmp_path / "model")
    text = card_of(tmp_path / "model")
    (listed,) = metadata_of(text)["model-index"]
    assert [result["dataset"]["split"] for result in listed["results"]] == ["valid", "test"]
    assert listed["results"][1]["metrics"][0]["value"] == round(again.reports[1].metrics["entity"]["mrr"], 4)
    assert "Not evaluated yet" not in text
    for report in again.reports:
        figures = report.metrics["relation"]
        shown = " | ".join(f"{figures[name]:.3f}" for name in ("mrr", "hits@1", "hits@3", "hits@10"))
        assert f"Metrics on {report.split} by missing element" in text
        assert f"| relation | {shown} | {figures['count']} |" in text
        assert report.protocol.describe() in text


def test_equal_models_have_equal_cards_wherever_they_are(run: TrainedModel, tmp_path: Path) -> None:
    run.save(tmp_path / "one")
    load_model(tmp_path / "one").save(tmp_path / "two")
    assert card_of(tmp_path / "one") == card_of(tmp_path / "two")
    assert str(tmp_path) not in card_of(tmp_path / "one")


def test_what_people_wrote_stays(run: TrainedModel, tmp_path: Path) -> None:
    run.save(tmp_path / "model")
    (tmp_path / "model" / "README.md").write_text("Mine.")
    again = load_model(tmp_path / "model")
    again.add_report(again.evaluate(), tmp_path / "model")
    assert card_of(tmp_path / "model") == "Mine."
    assert [report.split for report in load_model(tmp_path / "model").reports] == ["test"]


def test_names_do_nothing_but_show(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script> | **b** `c`\n\n# Owned\u2028[x](javascript:1)"
    facts = [Fact(f"e{i}", evil, f"e{i + 1}") for i in range(8)]
    data = dataset_of(train=facts[:6], valid=facts[6:7], test=facts[7:])
    small_run(tmp_path / "run", "frequency", Dataset("```\n# Bad", data.vocabulary, data.splits))
    text = card_of(tmp_path / "run" / "model")
    assert not re.search(r"(?<!\\)<script", text)
    assert not re.search(r"^# (Owned|Bad)", text, re.MULTILINE)
    outside = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
    assert len(re.findall(r"^```", outside, re.MULTILINE)) == 4
    assert "\n---\n\n# frequency on \\`\\`\\` \\# Bad\n" in text
    row = next(line for line in text.splitlines() if "script" in line)
    assert len(re.findall(r"(?<!\\)\|", row)) == 3


def test_labels_are_shown_instead_of_names_and_long_ones_are_cut(tmp_path: Path) -> None:
    data = small_data()
    labels = {name: f"label of {name} {'x' * 1000}" for name in data.vocabulary.relations}
    names = Vocabulary(data.vocabulary.entities, data.vocabulary.relations, labels)
    small_run(tmp_path / "run", "frequency", Dataset("labeled", names, data.splits))
    assert re.search(r"\| label of relation 0\d x{50,70}… \| \d+ \|", card_of(tmp_path / "run" / "model"))
