"""Plots of datasets and training runs, made with matplotlib (the extra ``plots``)."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nary.data.statistics import Statistics
from nary.plotting import new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nary.runs import RunFolder

_COLOR = "#2f6690"
_SECOND_COLOR = "#c8553d"
_QUIET = "#6b7280"
_LONGEST_NAME = 34


def plot_statistics(statistics: Statistics, path: Path) -> None:
    """Plot arities, degrees and frequent relations of a dataset; ``path`` ends in .png or .svg."""
    figure = new_figure(path, 13, 4.4)
    arities, degrees, relations = figure.subplots(1, 3, width_ratios=(1, 1.1, 1.1))
    _draw_arities(arities, statistics)
    _draw_degrees(degrees, statistics)
    _draw_relations(relations, statistics)
    facts = sum(statistics.counts["facts"].values())
    figure.suptitle(
        f"{statistics.counts['name']}: {facts:,} facts, {statistics.counts['entities']:,} entities, "
        f"{statistics.counts['relations']:,} relations",
        parse_math=False,
        fontsize=13,
        fontweight="bold",
    )
    save_figure(figure, path)


def _draw_arities(axes: "Axes", statistics: Statistics) -> None:
    """Plot the number of facts of each arity; on a log scale, since high arities are rare."""
    arities = statistics.counts["arities"]
    bars = axes.bar(list(arities), list(arities.values()), color=_COLOR, width=0.7)
    if len(arities) <= 8:
        axes.bar_label(bars, [f"{n:,}" for n in arities.values()], padding=2, fontsize=8, color=_QUIET)
    else:
        axes.tick_params(axis="x", labelsize=7, rotation=60)
    axes.set_yscale("log")
    axes.margins(y=0.12)
    axes.set_ylim(bottom=0.5)  # so that a single fact has a visible bar
    _finish(axes, "Facts by arity", "arity", "facts")


def _draw_degrees(axes: "Axes", statistics: Statistics) -> None:
    """Plot how many entities have each degree; a power law gives a straight line."""
    degree, entities = np.unique(statistics.degrees[statistics.degrees > 0], return_counts=True)
    axes.scatter(degree, entities, s=10, color=_COLOR, alpha=0.55, linewidths=0)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.axvline(statistics.degree["mean"], color=_QUIET, linewidth=1, linestyle="--")
    axes.annotate(
        f"mean {statistics.degree['mean']:,.1f}",
        (statistics.degree["mean"], 1),
        xycoords=("data", "axes fraction"),
        xytext=(5, -12),
        textcoords="offset points",
        fontsize=8,
        color=_QUIET,
    )
    _finish(axes, "Facts per entity", "facts", "entities")


def _draw_relations(axes: "Axes", statistics: Statistics) -> None:
    """Plot the most frequent relations, most frequent first."""
    names = [_short(statistics.labels.get(name, name)) for name, _ in statistics.top_relations]
    sizes = [n for _, n in statistics.top_relations]
    bars = axes.barh(range(len(names)), sizes, color=_COLOR, height=0.7)
    axes.bar_label(bars, [f"{n:,}" for n in sizes], padding=3, fontsize=8, color=_QUIET)
    axes.set_yticks(range(len(names)), names, fontsize=8, parse_math=False)
    axes.invert_yaxis()
    axes.margins(x=0.18)
    _finish(axes, "Most frequent relations", "facts", "")


def plot_curves(run: "RunFolder") -> None:
    """Plot the training loss and, where validated, the valid MRR of a run into its ``curves.png``."""
    records = run.records()
    losses = [record for record in records if "loss" in record]
    validations = [record for record in records if "valid_mrr" in record]
    if not losses:
        return
    path = run.path / "curves.png"
    figure = new_figure(path, 7.5, 4)
    axes = figure.subplots()
    axes.plot([r["step"] for r in losses], [r["loss"] for r in losses], color=_COLOR, label="loss")
    axes.set_xlabel("step")
    axes.set_ylabel("loss", color=_COLOR)
    axes.spines["top"].set_visible(False)
    if validations:
        right = axes.twinx()
        right.plot([r["step"] for r in validations], [r["valid_mrr"] for r in validations], "o-", color=_SECOND_COLOR)
        right.set_ylabel("valid MRR (entities)", color=_SECOND_COLOR)
        right.set_ylim(0, 1)
        right.spines["top"].set_visible(False)
    axes.set_title(run.path.name, loc="left", fontweight="bold", parse_math=False)
    save_figure(figure, path)


def _finish(axes: "Axes", title: str, x_label: str, y_label: str) -> None:
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.spines[["top", "right"]].set_visible(False)


def _short(name: str) -> str:
    """Shorten a long name to its start and its end."""
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME // 2 - 1]}…{name[-_LONGEST_NAME // 2 + 1 :]}"
