"""Compared runs by recipe: mean and deviation over seeds, and which differences are significant."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from nary.reproduction.compared_run import ComparedRun
from nary.reproduction.significance import Difference, paired_bootstrap
from nary.tables import Table, left, right

METRICS = (("entity", "mrr"), ("entity", "hits@1"), ("entity", "hits@10"))
_TITLES = ("MRR", "Hits@1", "Hits@10")


@dataclass(frozen=True, eq=False)
class RecipeGroup:
    """Runs that differ in the seed only."""

    runs: Sequence[ComparedRun]
    difference: Difference | None = None
    """How much lower the entity MRR is than that of the best group; None for that group, or without ranks."""

    @property
    def label(self) -> str:
        """The recipe, or the name of the record."""
        return self.runs[0].label

    def mean(self, group: str, name: str) -> float | None:
        """The mean of a metric over the runs; None if one lacks it."""
        values = [run.metric(group, name) for run in self.runs]
        return None if None in values else fmean(value for value in values if value is not None)

    def std(self, group: str, name: str) -> float | None:
        """The standard deviation over the runs; None for a single one."""
        values = [value for run in self.runs if (value := run.metric(group, name)) is not None]
        return stdev(values) if len(values) > 1 else None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        difference = self.difference
        return {
            "recipe": self.label,
            "data": self.runs[0].data,
            "runs": [run.run for run in self.runs],
            "seeds": [run.seed for run in self.runs],
            "mean": {f"{name} {group}": self.mean(group, name) for group, name in METRICS},
            "std": {f"{name} {group}": self.std(group, name) for group, name in METRICS},
            "difference": difference and {**vars(difference), "significant": difference.significant},
        }


def group_runs(runs: Sequence[ComparedRun]) -> list[RecipeGroup]:
    """The groups of equal recipe, data, model and protocol, best first; with differences if all runs have ranks."""
    grouped: dict[tuple[object, ...], list[ComparedRun]] = {}
    for run in runs:
        key = (run.label, run.settings, run.data, run.fingerprint, run.protocol.describe())
        grouped.setdefault(key, []).append(run)
    groups = sorted(map(RecipeGroup, grouped.values()), key=lambda group: -(group.mean("entity", "mrr") or 0.0))
    best = [run.ranks for run in groups[0].runs if run.ranks is not None]
    if len(best) < len(groups[0].runs):
        return groups
    compared = [groups[0]]
    for group in groups[1:]:
        ranks = [run.ranks for run in group.runs if run.ranks is not None]
        compared.append(RecipeGroup(group.runs, paired_bootstrap(best, ranks)))
    return compared


def groups_table(groups: Sequence[RecipeGroup], escape: Callable[[str], str] = str) -> Table:
    """Mean ± standard deviation, and the difference from the best group where it was tested."""
    tested = any(group.difference for group in groups)
    rows = []
    for group in groups:
        figures = [_figure(group.mean(*metric), group.std(*metric)) for metric in METRICS]
        rows.append(
            [escape(group.label), str(len(group.runs)), *figures, *([_verdict(group.difference)] if tested else [])]
        )
    titles = left("behind the best by") if tested else []
    return Table([*left("recipe"), *right("runs", *_TITLES), *titles], rows)


def _figure(mean: float | None, std: float | None) -> str:
    return "–" if mean is None else f"{mean:.3f}" if std is None else f"{mean:.3f} ± {std:.3f}"


def _verdict(difference: Difference | None) -> str:
    if difference is None:
        return ""
    interval = f"{difference.mean:.3f} [{difference.low:.3f}, {difference.high:.3f}]"
    return interval if difference.significant else f"{interval}, not significant"
