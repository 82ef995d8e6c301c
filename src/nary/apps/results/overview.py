"""All systems in one table: how good they are on a few datasets, how large and how slow."""

from collections.abc import Sequence
from statistics import mean

from nary.apps.results.own import Own
from nary.apps.results.published import MEASURES
from nary.apps.results.tables import markdown
from nary.runs.tables import is_ablation

_DATASETS = ("jf17k-4", "jf17k-3", "fb-auto", "nobel")
"""Those that every system can be trained on in minutes."""
_LEGEND = """**MRR** (Hits@1, Hits@10) of all entities, parameters, seconds of training; where a system has several
recipes for a dataset, each with its name. The tables above link to the files and tell what each learned from: some from
train and valid, others from train alone."""


def overview(own: Sequence[Own]) -> list[str]:
    """The table, the best on top; nothing if none of its datasets has results."""
    rows = [row for row in own if row.values("entity", "mrr") and not is_ablation(row.file)]
    datasets = [dataset for dataset in _DATASETS if any(row.dataset == dataset for row in rows)]
    if not datasets:
        return []
    systems: dict[str, list[list[Own]]] = {}
    for system in {row.system for row in rows if row.dataset in datasets}:
        alike = [row for row in rows if row.system == system]
        systems[system] = [[row for row in alike if row.dataset == dataset] for dataset in datasets]
    order = sorted(systems, key=lambda system: (*map(_best_first, systems[system]), system))
    body = [[system, *map(_cell, systems[system])] for system in order]
    return [_LEGEND, "", *markdown(["system", *datasets], body), ""]


def _best_first(rows: Sequence[Own]) -> float:
    return -max((mean(row.values("entity", "mrr")) for row in rows), default=0.0)


def _cell(rows: Sequence[Own]) -> str:
    return "<br>".join(_line(row) + (f", `{row.name}`" if len(rows) > 1 else "") for row in rows)


def _line(row: Own) -> str:
    mrr, first, ten = (mean(row.values("entity", measure)) for measure in MEASURES)
    parts = [f"**{mrr:.3f}** ({first:.3f}, {ten:.3f})"]
    if parameters := row.results[0].get("parameters"):
        parts.append(f"{parameters / 1e6:.1f} M")
    if row.seconds is not None:
        parts.append(f"{row.seconds:,.0f} s")
    return ", ".join(parts)
