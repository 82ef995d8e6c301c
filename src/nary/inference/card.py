"""The model card: a page in plain Markdown on what a model is, what it learned from, how good it is, how to use it.

It is made from what the model folder holds and from nothing else: no times, no paths, so equal models have equal cards.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import tomli_w

from nary.config import Settings
from nary.data.dataset import Dataset
from nary.data.statistics import statistics
from nary.evaluation.report import Report
from nary.models.base import Model
from nary.version import __version__

_SHOWN = {"mrr": "MRR", "hits@1": "Hits@1", "hits@3": "Hits@3", "hits@10": "Hits@10", "count": "Queries"}
_LONGEST = 80
_MARKS = str.maketrans({mark: "\\" + mark for mark in "\\`*_{}[]<>()#+-.!|~&$:@^="})

_USE = """\
With Nary installed, and this folder called `MODEL`:

```
nary predict MODEL "subject | relation | ? | attribute: value"
nary evaluate MODEL
```

```python
import nary

run = nary.load_model("MODEL")
run.predict("subject | relation | ? | attribute: value", k=5)
```

`?` stands for the missing element, at any position the model predicts. Opening the folder runs nothing in it."""

_LIMITS = """\
- It knows only the entities and relations in `vocabulary.json`; nothing can be asked about others.
- Its answers are guesses from what the facts it learned from have in common, with their gaps, errors and biases. They
  are not looked up, and not checked: do not take one for a fact.
- The figures above hold for facts like those they were made with, by the protocol named. Figures made under different
  protocols must not be compared."""

_LICENCE = """\
The license of the data is not known to Nary. The folder holds the facts (`facts/`) and all names (`vocabulary.json`):
before passing it on, see what the source of the data allows."""


def card(
    dataset: Dataset,
    model: Model,
    settings: Settings,
    recipe: Mapping[str, Any] | None,
    reports: Sequence[Report],
) -> str:
    """The text of the card; ``recipe`` holds the tables of the recipe the model was trained by, if that is known."""
    parameters = sum(parameter.numel() for parameter in model.parameters())
    parts = [
        f"# {model.name} on {_name(dataset.name)}",
        "A model for link prediction on n-ary facts (subject–relation–object triples with any number of "
        f"attribute–value qualifiers), made with Nary {__version__}. It fills in what is missing: "
        f"{', '.join(sorted(role.value for role in model.roles_of(settings)))}.",
        f"**{model.name}**: {model.description}. {parameters:,} parameters. Source: {model.reference}.",
        "## Data",
        *_data(dataset),
        "## Training",
        *_training(settings, recipe),
        "## Metrics",
        *(part for report in reports for part in _metrics(report)),
        *([] if reports else ["Nothing has been evaluated yet. `nary evaluate MODEL` ranks the test split."]),
        *("## Use", _USE, "## Limits", _LIMITS),
    ]
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """``text`` as Markdown that shows it and does nothing else, on one line."""
    visible = "".join(" " if unicodedata.category(mark) in ("Cc", "Zl", "Zp") else mark for mark in text)
    return " ".join(visible.split()).translate(_MARKS)


def _name(name: str) -> str:
    """A name or label, cut if it is very long."""
    return escaped(name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…")


def _table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table whose columns but the first hold numbers."""
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def _data(dataset: Dataset) -> list[str]:
    found = statistics(dataset)
    arities = ", ".join(f"{count:,} of arity {arity}" for arity, count in found.counts["arities"].items())
    names = [(_name(dataset.vocabulary.label(name)), f"{count:,}") for name, count in found.top_relations[:5]]
    return [
        _table(["split", "facts"], [(split, f"{count:,}") for split, count in found.counts["facts"].items()]),
        f"{found.counts['entities']:,} entities, {found.counts['relations']:,} relations. Facts: {arities}. "
        f"Fingerprint of facts and names: `{dataset.fingerprint}`.",
        _table(["most frequent relations", "facts"], names),
        _LICENCE,
    ]


def _training(settings: Settings, recipe: Mapping[str, Any] | None) -> list[str]:
    if recipe is None:
        how, tables = "How it was trained is not recorded. Its settings:", {"model": settings.model_dump()}
    else:
        how, tables = f"It learned from {' and '.join(recipe['data']['train_on'])}, by this recipe:", dict(recipe)
    lines = tomli_w.dumps(tables).rstrip().split("\n")
    return [how, "\n".join(f"    {line}".rstrip() for line in lines)]  # indented: code, in which no mark has a meaning


def _metrics(report: Report) -> list[str]:
    rows = [
        [escaped(group), *(f"{figures[name]:,}" if name == "count" else f"{figures[name]:.3f}" for name in _SHOWN)]
        for group, figures in report.metrics.items()
        if "[" not in group  # the parts of a group are in metrics.json
    ]
    return [
        f"The facts of {escaped(report.split)}, by what is missing (with their arities in `metrics.json`):",
        _table(["missing", *_SHOWN.values()], rows),
        " ".join([report.protocol.describe(), *(escaped(note) for note in report.notes)]),
    ]
