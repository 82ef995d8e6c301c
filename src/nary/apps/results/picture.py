"""A picture of quality against time: a panel a dataset, a point a recipe, a color a model."""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

from nary.apps.plots import new_figure, save_figure
from nary.apps.results.own import Own
from nary.models.registry import MODELS
from nary.runs.tables import is_ablation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ACROSS = 2
_MARKERS = "osD"
_MINUTES = (1, 2, 5, 10, 20, 60, 180, 600)


def datasets_drawn(own: Sequence[Own]) -> list[str]:
    """The datasets on which at least two recipes were trained: a point alone compares nothing."""
    timed = [row.dataset for row in own if _can_be_drawn(row)]
    return [dataset for dataset in dict.fromkeys(timed) if timed.count(dataset) > 1]


def draw_results(own: Sequence[Own], path: Path) -> None:
    """Draw the MRR of entities against the time of training; ``path`` ends in .png or .svg."""
    datasets = datasets_drawn(own)
    across = min(_ACROSS, len(datasets))
    down = -(-len(datasets) // across)
    figure = new_figure(path, 5 * across, 3.6 * down + 1)
    panels = list(figure.subplots(down, across, squeeze=False, sharex=True).flat)
    for dataset, axes in zip(datasets, panels, strict=False):
        _draw(axes, dataset, [row for row in own if row.dataset == dataset and _can_be_drawn(row)])
    for axes in panels[len(datasets) :]:
        axes.set_visible(False)
    named = {name: point for axes in panels for point, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    models = [model for model in MODELS if model in named]
    figure.legend(
        [named[model] for model in models], models, loc="outside lower center", ncols=3 * across, frameon=False
    )
    save_figure(figure, path)


def _draw(axes: "Axes", dataset: str, rows: Sequence[Own]) -> None:
    for row in rows:
        number = list(MODELS).index(row.model)
        axes.plot(
            (row.seconds or 0.0) / 60,
            mean(row.values("entity", "mrr")),
            "*" if number == 0 else _MARKERS[number // 10 % len(_MARKERS)],
            markersize=12 if number == 0 else 6,
            color=f"C{number % 10}",
            label=row.model,
        )
    axes.set_xscale("log")
    axes.margins(0.1)
    low, high = axes.get_xlim()
    axes.minorticks_off()
    axes.set_xticks(ticks := [minutes for minutes in _MINUTES if low <= minutes <= high], list(map(str, ticks)))
    axes.tick_params(labelbottom=True)  # not only in the lowest row
    axes.set_title(dataset, loc="left", fontsize=11, parse_math=False)
    axes.set_xlabel("minutes of training")
    axes.set_ylabel("MRR of entities, test")
    axes.spines[["top", "right"]].set_visible(False)


def _can_be_drawn(row: Own) -> bool:
    return bool(row.model in MODELS and row.seconds and row.values("entity", "mrr") and not is_ablation(row.file))
