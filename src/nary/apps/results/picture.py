"""A picture of quality against time: a panel a dataset, a point a recipe."""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

from nary.apps.plots import new_figure, save_figure
from nary.apps.results.own import Own

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ACROSS = 2
_MARKERS = "osD^v"


def datasets_drawn(own: Sequence[Own]) -> list[str]:
    """The datasets on which at least two recipes were trained: a point alone compares nothing."""
    timed = [row.dataset for row in own if _can_be_drawn(row)]
    return [dataset for dataset in dict.fromkeys(timed) if timed.count(dataset) > 1]


def draw_results(own: Sequence[Own], path: Path) -> None:
    """Draw the MRR of entities against the seconds of training; ``path`` ends in .png or .svg."""
    datasets = datasets_drawn(own)
    across = min(_ACROSS, len(datasets))
    down = -(-len(datasets) // across)
    figure = new_figure(path, 6.5 * across, 4 * down)
    panels = list(figure.subplots(down, across, squeeze=False).flat)
    for dataset, axes in zip(datasets, panels, strict=False):
        _draw(axes, dataset, [row for row in own if row.dataset == dataset and _can_be_drawn(row)])
    for axes in panels[len(datasets) :]:
        axes.set_visible(False)
    save_figure(figure, path)


def _draw(axes: "Axes", dataset: str, rows: Sequence[Own]) -> None:
    """A point for each of ``rows``, named beside the panel with the best on top."""
    best_first = sorted(rows, key=lambda row: -mean(row.values("entity", "mrr")))
    for number, row in enumerate(best_first):
        axes.plot(
            row.seconds or 0.0,
            mean(row.values("entity", "mrr")),
            _MARKERS[number // 10 % len(_MARKERS)],
            color=f"C{number % 10}",
            label=row.file,
        )
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8, frameon=False)
    axes.set_xscale("log")
    axes.margins(0.1)
    axes.set_title(dataset, loc="left", fontsize=11, parse_math=False)
    axes.set_xlabel("seconds of training")
    axes.set_ylabel("MRR of entities, test")
    axes.spines[["top", "right"]].set_visible(False)


def _can_be_drawn(row: Own) -> bool:
    return bool(row.seconds and row.values("entity", "mrr"))
