"""The figure of the results page: test MRR vs. training time, one panel per dataset and one color per model."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nary.models.registry import MODELS
from nary.plotting import new_figure, save_figure
from nary.reproduction.experiments import is_ablation
from nary.reproduction.records import ResultRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 2
_MARKERS = "osD"
_MINUTES = (1, 2, 5, 10, 20, 60, 180, 600)


def datasets_to_plot(rows: Sequence[ResultRow]) -> list[str]:
    """The datasets with at least two points, because a single one compares nothing."""
    datasets = [row.dataset for row in rows if _can_be_plotted(row)]
    return [dataset for dataset in dict.fromkeys(datasets) if datasets.count(dataset) > 1]


def plot_results(rows: Sequence[ResultRow], path: Path) -> None:
    """Plot entity MRR over training time; ``path`` ends in .png or .svg."""
    datasets = datasets_to_plot(rows)
    across = min(_COLUMNS, len(datasets))
    down = -(-len(datasets) // across)
    figure = new_figure(path, 5 * across, 3.6 * down + 1)
    panels = list(figure.subplots(down, across, squeeze=False, sharex=True).flat)
    for dataset, axes in zip(datasets, panels, strict=False):
        _plot_panel(axes, dataset, [row for row in rows if row.dataset == dataset and _can_be_plotted(row)])
    for axes in panels[len(datasets) :]:
        axes.set_visible(False)
    handles = {name: point for axes in panels for point, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    models = [model for model in MODELS if model in handles]
    figure.legend(
        [handles[model] for model in models], models, loc="outside lower center", ncols=3 * across, frameon=False
    )
    save_figure(figure, path)


def _plot_panel(axes: "Axes", dataset: str, rows: Sequence[ResultRow]) -> None:
    for row in rows:
        number = list(MODELS).index(row.model)
        axes.plot(
            (row.seconds or 0.0) / 60,
            row.mean("entity", "mrr"),
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
    axes.tick_params(labelbottom=True)  # in every row of panels, not only the lowest
    axes.set_title(dataset, loc="left", fontsize=11, parse_math=False)
    axes.set_xlabel("training time (minutes)")
    axes.set_ylabel("test MRR (entities)")
    axes.spines[["top", "right"]].set_visible(False)


def _can_be_plotted(row: ResultRow) -> bool:
    return bool(row.model in MODELS and row.seconds and row.values("entity", "mrr") and not is_ablation(row.stem))
