"""The first table of the results page: the best of our results beside the best published one."""

from collections.abc import Sequence

from nary.reproduction.experiments import is_ablation
from nary.reproduction.published import Published
from nary.reproduction.records import ResultRow
from nary.tables import Table, left

QUICK_MINUTES = 30
"""The training time of quick results."""
_HEADER = (
    *("dataset", "queries", f"ours in {QUICK_MINUTES} minutes", "ours", "recipe", "trained on", "minutes"),
    *("best published", "system"),
)


def summary_table(rows: Sequence[ResultRow], published: Published) -> list[str]:
    """A line for each dataset and query group with a published result and one of ours."""
    lines = []
    for (dataset, group), best in published.best().items():
        results = [row for row in rows if row.dataset == dataset and row.values(group, "mrr")]
        results = [row for row in results if not row.outdated and not is_ablation(row.stem)]
        most = max((row.query_count(group) for row in results), default=0)
        results = [row for row in results if row.query_count(group) == most]  # who answers all queries
        if not results:
            continue
        first = max(results, key=lambda row: row.mean(group, "mrr"))
        quick = [row for row in results if _is_quick(row)]
        quickest = max((row.mean(group, "mrr") for row in quick), default=None)
        lines.append(
            [
                *(
                    dataset,
                    group,
                    "–" if quickest is None else f"{quickest:.3f}",
                    f"**{first.formatted(group, 'mrr')}**",
                ),
                f"`{first.name}`" + (", a blend" if first.model == "blend" else ""),
                *(_splits(first), _minutes(first), f"{best.mrr:.3f}", best.system),
            ]
        )
    return Table(left(*_HEADER), lines).markdown().split("\n") if lines else []


def _is_quick(row: ResultRow) -> bool:
    """A recipe named after that budget keeps it on a quiet machine, whatever was measured on a busy one."""
    return row.stem.endswith(f"-{QUICK_MINUTES}m") or (row.seconds or 0) <= 60 * QUICK_MINUTES


def _minutes(row: ResultRow) -> str:
    return "–" if row.seconds is None else f"{max(1, round(row.seconds / 60)):,}"


def _splits(row: ResultRow) -> str:
    """The splits trained on; a star for a part of valid that was held out of them."""
    first = row.records[0]
    return "+".join(first["trained_on"]) + ("*" if first["recipe"]["data"].get("valid_fraction") else "")
