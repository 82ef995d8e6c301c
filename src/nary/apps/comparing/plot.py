"""Quality against training time."""

from pathlib import Path

from nary.apps.comparing.comparison import Comparison
from nary.apps.plots import new_figure, save_figure
from nary.errors import OutputError

_COLOR, _QUIET = "#2f6690", "#6b7280"
_WIDE = 10  # times as long as the shortest training: then every factor gets the same room


def plot_comparison(comparison: Comparison, path: Path) -> None:
    """A point for each run; one whose training took no time, or nobody knows how much, is a line."""
    found = [(run, run.figure("entity", "mrr")) for run in comparison.runs]
    shown = [(run.run, run.seconds, mrr) for run, mrr in found if mrr is not None]
    if not shown:
        raise OutputError("no run has an MRR of entities to draw", "Evaluate subjects, objects or values.")
    figure = new_figure(path, 8, 5)
    axes = figure.subplots()
    for name, seconds, mrr in shown:
        if seconds:
            axes.scatter([seconds], [mrr], color=_COLOR)
        else:
            axes.axhline(mrr, color=_QUIET, linestyle="--", linewidth=1)
        axes.annotate(
            name,
            (seconds or 0.01, mrr),
            xycoords="data" if seconds else ("axes fraction", "data"),
            xytext=(4, 4),
            textcoords="offset points",
            fontsize=8,
            color=_COLOR if seconds else _QUIET,
            parse_math=False,
        )
    times = [seconds for _, seconds, _ in shown if seconds]
    if times and max(times) > _WIDE * min(times):
        axes.set_xscale("log")
    axes.margins(0.2)
    axes.set_xlabel("seconds of training")
    axes.set_ylabel(f"MRR of entities, {comparison.split}")
    axes.spines[["top", "right"]].set_visible(False)
    save_figure(figure, path)
