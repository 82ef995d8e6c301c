"""The page of results, made from recorded results and the table of published figures."""

import tomllib
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from nary.runs.results import read_results

_GROUPS = ("entity", "subject/object", "value", "relation")
_HEADER = """# Results

Every figure on this page was measured by a command of this repository and stands in a file under `results/`; the page
is made from those files by `nary results results --out docs/results.md`. To repeat a row, `nary train` with the recipe
in its file, then `nary evaluate RUN --record results`.
"""


def results_page(folder: Path) -> str:
    """The whole page in Markdown."""
    published = tomllib.loads((folder / "published.toml").read_text(encoding="utf-8")).get("figure", [])
    results = read_results(folder)
    parts = [_HEADER]
    for dataset, own in groupby(results, key=lambda result: str(result["dataset"])):
        parts.append(_dataset(dataset, list(own), [one for one in published if one["dataset"] == dataset]))
    return "\n".join(parts)


def _dataset(dataset: str, results: Sequence[Mapping[str, Any]], published: Sequence[Mapping[str, Any]]) -> str:
    lines = [f"## {dataset}", "", "| model | settings | seeds | " + " | ".join(f"MRR {group}" for group in _GROUPS)]
    lines[-1] += " | Hits@1 | Hits@10 | published MRR entity | seconds | files |"
    lines.append("|---" * (len(_GROUPS) + 8) + "|")
    for name, own in groupby(results, key=_row_name):
        lines.append(_row(name, list(own), published))
    protocols = {str(sorted(result["protocol"].items())) for result in results}
    first = results[0]["protocol"]
    stated = ", ".join(f"{key} {value}" for key, value in first.items() if value)
    lines += ["", f"Protocol: {stated}." if len(protocols) == 1 else "Protocols differ; see the files."]
    lines += [f"Measured on {hardware}." for hardware in sorted({str(result.get("hardware")) for result in results})]
    return "\n".join([*lines, ""])


def _row_name(result: Mapping[str, Any]) -> str:
    return str(result["path"]).rpartition("/")[2].rpartition("-seed")[0]


def _row(name: str, results: Sequence[Mapping[str, Any]], published: Sequence[Mapping[str, Any]]) -> str:
    first = results[0]
    cells = [name, _settings(first["recipe"]), str(len(results))]
    cells += [_spread([r["metrics"][group]["mrr"] for r in results if group in r["metrics"]]) for group in _GROUPS]
    cells += [_spread([r["metrics"]["entity"][hits] for r in results]) for hits in ("hits@1", "hits@10")]
    known = [p["mrr"] for p in published if (p["model"], p["variant"]) == (first["model"], first["variant"])]
    cells.append(f"{known[0]:.3f}" if known else "")
    seconds = [r["seconds"] for r in results if r["seconds"]]
    cells.append(f"{mean(seconds):,.0f}" if seconds else "")
    cells.append(" ".join(f"[{r['seed']}](../results/{r['path']})" for r in results))
    return "| " + " | ".join(cells) + " |"


def _settings(recipe: Mapping[str, Any]) -> str:
    training, model = recipe["training"], recipe["model"]
    if "layers" not in model:
        return ""
    train_on = "+".join(recipe["data"]["train_on"])
    return f"{model['layers']} layers, width {model['width']}, {training['epochs']} epochs, on {train_on}"


def _spread(values: Sequence[float]) -> str:
    if not values:
        return ""
    return f"{mean(values):.3f}" + (f" ± {stdev(values):.3f}" if len(values) > 1 else "")
