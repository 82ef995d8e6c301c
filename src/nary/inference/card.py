"""The model card: a Markdown page on a model, its training data, its metrics and its use.

It begins with the metadata that the Hugging Face Hub reads, in YAML. It is made from the contents of the model folder
only, without times or paths, so equal models have equal cards.
"""

from collections.abc import Mapping, Sequence

import orjson

from nary.data.dataset import Dataset
from nary.data.statistics import statistics
from nary.evaluation.report import Report
from nary.inference.provenance import Update
from nary.models.base import Model
from nary.recipe import Recipe
from nary.tables import Table, escape_markdown, left, right
from nary.version import __version__

_SHOWN = {"mrr": "MRR", "hits@1": "Hits@1", "hits@3": "Hits@3", "hits@10": "Hits@10", "count": "Queries"}
_LONGEST = 80
_TAGS = ["link-prediction", "knowledge-graph", "hyper-relational", "n-ary-facts"]

_USE = """\
With Nary installed, and this folder called `MODEL`:

```
nary predict MODEL "subject | relation | ? | attribute: value"
nary evaluate MODEL
```

```python
import nary

model = nary.load_model("MODEL")
model.predict("subject | relation | ? | attribute: value", k=5)
```

`?` stands for the missing element, at any position that the model predicts. Loading the folder executes no code."""

_INTENDED_USE = """\
To suggest missing facts and to find wrong ones, for a person who checks the answers. Not for decisions about people
without such a check."""

_LIMITS = """\
- It knows only the entities and relations in `vocabulary.json`. `nary update` adds new facts and the names in them.
- Its predictions are guesses and reflect the gaps, errors and biases of its training facts. Check them before use.
- The metrics hold for similar facts under the protocol shown. Metrics under different protocols are not comparable."""

_LICENSE = """\
Nary does not know the license of the data. The folder contains the facts (`facts/`) and all names (`vocabulary.json`):
check the license before you share it."""


def card(
    dataset: Dataset, model: Model, recipe: Recipe, reports: Sequence[Report], updates: Sequence[Update] = ()
) -> str:
    """The text of the card."""
    parameters = sum(parameter.numel() for parameter in model.parameters())
    roles = ", ".join(sorted(role.value for role in model.roles))
    parts = [
        _metadata(dataset, model, reports),
        f"# {model.name} on {_name(dataset.name)}",
        "A model for link prediction on n-ary facts (subject–relation–object triples with any number of "
        f"attribute–value qualifiers), made with Nary {__version__}. It predicts: "
        f"{roles}.",
        f"**{model.name}**: {model.description}. {parameters:,} parameters. Source: {model.reference}.",
        "## Data",
        *_data(dataset),
        "## Training",
        *_training(recipe),
        *_updates(updates),
        "## Metrics",
        *(part for report in reports for part in _metrics(report)),
        *([] if reports else ["Not evaluated yet: run `nary evaluate MODEL`."]),
        *("## Use", _USE, "## Intended use", _INTENDED_USE, "## Limits", _LIMITS),
    ]
    return "\n\n".join(parts) + "\n"


def _metadata(dataset: Dataset, model: Model, reports: Sequence[Report]) -> str:
    """What the hub shows beside the card and lists models by. JSON is YAML, whatever the names are."""
    content: dict[str, object] = {"library_name": "nary", "pipeline_tag": "graph-ml", "tags": _TAGS}
    if results := [_result(dataset, report) for report in reports]:
        content["model-index"] = [{"name": f"{model.name} on {dataset.name}", "results": results}]
    lines = [f"{key}: {orjson.dumps(value).decode()}" for key, value in content.items()]
    return "\n".join(["---", *lines, "---"])


def _result(dataset: Dataset, report: Report) -> dict[str, object]:
    figures = report.metrics.get("entity", {})
    shown = [(metric, name) for metric, name in _SHOWN.items() if metric in figures and metric != "count"]
    return {
        "task": {"type": "graph-ml", "name": "Link prediction"},
        "dataset": {"name": dataset.name, "type": dataset.name, "split": report.split, "revision": dataset.fingerprint},
        "metrics": [
            {"type": metric, "name": f"{name}, entities", "value": round(figures[metric], 4)} for metric, name in shown
        ],
    }


def _name(name: str) -> str:
    """A name or label, cut if it is very long."""
    return escape_markdown(name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…")


def _data(dataset: Dataset) -> list[str]:
    stats = statistics(dataset)
    arities = ", ".join(f"{count:,} of arity {arity}" for arity, count in stats.counts["arities"].items())
    facts = [(split, f"{count:,}") for split, count in stats.counts["facts"].items()]
    names = [(_name(dataset.vocabulary.label(name)), f"{count:,}") for name, count in stats.top_relations[:5]]
    return [
        Table([*left("split"), *right("facts")], facts).markdown(),
        f"{stats.counts['entities']:,} entities, {stats.counts['relations']:,} relations. Facts: {arities}. "
        f"Fingerprint of facts and names: `{dataset.fingerprint}`.",
        Table([*left("most frequent relations"), *right("facts")], names).markdown(),
        _LICENSE,
    ]


def _training(recipe: Recipe) -> list[str]:
    lines = recipe.as_toml().rstrip().split("\n")
    return [
        f"Trained on {' and '.join(recipe.data.train_on)} with this recipe:",
        "\n".join(f"    {line}".rstrip() for line in lines),  # indented: code, in which no mark has a meaning
    ]


def _updates(updates: Sequence[Update]) -> list[str]:
    """What was added after training, a line each."""
    if not updates:
        return []
    added = [f"- {update}, to the dataset with the fingerprint `{update.fingerprint}`" for update in updates]
    return ["Added after training, with embeddings learned for the new names only:", "\n".join(added)]


def _metrics(report: Report) -> list[str]:
    rows = [
        [escape_markdown(group), *(_figure(figures, name) for name in _SHOWN)]
        for group, figures in report.metrics.items()
        if "[" not in group  # the parts of a group are in metrics.json
    ]
    return [
        f"Metrics on {escape_markdown(report.split)} by missing element (by arity in `metrics.json`):",
        Table([*left("missing"), *right(*_SHOWN.values())], rows).markdown(),
        " ".join([report.protocol.describe(), *(escape_markdown(note) for note in report.notes)]),
    ]


def _figure(figures: Mapping[str, float], name: str) -> str:
    if name not in figures:  # an older report may lack a metric
        return ""
    return f"{figures[name]:,}" if name == "count" else f"{figures[name]:.3f}"
