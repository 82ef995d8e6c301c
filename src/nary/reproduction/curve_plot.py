"""A figure of MRR by number of qualifiers given: a column for each dataset, a line for runs that differ in the seed."""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

from nary.plotting import new_figure, save_figure
from nary.reproduction.compared_run import ComparedRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVELS = ("0", "1", "2", "all")
_GROUPS = ("object", "entity")
_COLORS = ("#2f6690", "#c8553d", "#5b8c5a", "#8d6a9f", "#6b7280")


def has_curve(run: ComparedRun) -> bool:
    """Whether a run was evaluated with ``evaluation.given = "curve"``."""
    return run.metric("entity[given=all]", "mrr") is not None


def plot_given(runs: Sequence[ComparedRun], split: str, path: Path) -> None:
    """Plot the MRR of objects and of all entities; runs that differ only in the seed are one line, their mean."""
    datasets = list(dict.fromkeys(run.data for run in runs))
    figure = new_figure(path, 1.2 + 2.9 * len(datasets), 5.2)
    panels = figure.subplots(len(_GROUPS), len(datasets), squeeze=False, sharey="row", sharex=True)
    labels = list(dict.fromkeys(run.label for run in runs))
    for column, data in enumerate(datasets):
        for row, group in enumerate(_GROUPS):
            axes = panels[row][column]
            for number, label in enumerate(labels):
                alike = [run for run in runs if (run.data, run.label) == (data, label)]
                _draw(axes, alike, group, label, _COLORS[number % len(_COLORS)])
            axes.set_xticks(range(len(LEVELS)), LEVELS)
            axes.set_ylim(0, 1)
            axes.spines[["top", "right"]].set_visible(False)
        panels[0][column].set_title(data, fontsize=11, parse_math=False)
        panels[-1][column].set_xlabel("qualifiers given")
    for row, group in enumerate(_GROUPS):
        panels[row][0].set_ylabel(f"{split} MRR, {group}")
    handles, names = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    save_figure(figure, path)


def _draw(axes: "Axes", runs: Sequence[ComparedRun], group: str, label: str, color: str) -> None:
    """The mean of some runs as a line, and each of them as dots."""
    curves = [[run.metric(f"{group}[given={level}]", "mrr") for level in LEVELS] for run in runs]
    complete = [[value for value in curve if value is not None] for curve in curves if None not in curve]
    means = [mean(values) for values in zip(*complete, strict=True)] or [float("nan")] * len(LEVELS)
    axes.plot(range(len(LEVELS)), means, "o-", color=color, label=label, markersize=4)
    for curve in complete if len(complete) > 1 else []:
        axes.plot(range(len(LEVELS)), curve, ".", color=color, markersize=3, alpha=0.5)
