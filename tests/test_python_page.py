"""Run the examples in docs/python.md and docs/write-your-own-model.md."""

import doctest
import re
from pathlib import Path
from typing import Any

import pytest

from nary.data.catalog import DATASETS
from nary.data.io import FORMATS
from nary.evaluation.metrics import METRICS
from nary.models.registry import MODELS
from nary.training.settings import LOSSES

DOCS = Path(__file__).parent.parent / "docs"


def test_the_page_on_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(DOCS / "python.md"), module_relative=False, encoding="utf-8")
    assert tried > 25
    assert not failed


def test_the_page_on_a_model_of_your_own_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its blocks are definitions, or examples with their output."""
    monkeypatch.chdir(tmp_path)
    for registry in (DATASETS, FORMATS, LOSSES, METRICS, MODELS):  # other tests do without these components
        monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    blocks = re.findall(
        r"^```python\n(.*?)^```$", (DOCS / "write-your-own-model.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    names: dict[str, Any] = {"__name__": "page"}
    runner = doctest.DocTestRunner()
    for number, block in enumerate(blocks):
        if block.startswith(">>>"):
            examples = doctest.DocTestParser().get_doctest(block, names, f"block {number}", None, None)
            runner.run(examples, clear_globs=False)
            names = examples.globs  # a copy, with what the examples have defined
        else:
            exec(block, names)
    assert runner.tries > 10
    assert not runner.failures
