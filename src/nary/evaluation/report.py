"""A report: metrics and their protocol, as a text table, CSV, LaTeX or JSON."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from re import fullmatch
from typing import TYPE_CHECKING, Any

from nary.evaluation.guesses import ALL_SLOTS, ValueMetrics
from nary.evaluation.metrics import METRICS, TIE_BOUNDS, Metrics
from nary.evaluation.protocol import Protocol
from nary.evaluation.values import INTERVAL
from nary.html import table_html
from nary.tables import Table, left, right

if TYPE_CHECKING:
    import polars

_TITLES = {"mrr": "MRR", "mr": "MR", "count": "Queries", "optimistic": "MRR opt.", "pessimistic": "MRR pess."}
_SHORT = ("mrr", "hits@1", "hits@10", "count")
_LITERALS_TITLE = "Errors of numbers and dates (in years); baseline: the median of the training facts"
_CURVE_TITLE = "MRR by number of qualifiers given, for queries with at least one"


@dataclass(frozen=True, repr=False)
class Report:
    """The metrics of a split; ``notes`` contain what a reader of the metrics should know.

    A metric that is missing from a stored report is left out of its tables.
    """

    dataset: str
    split: str
    protocol: Protocol
    metrics: Metrics
    notes: Sequence[str] = ()
    literals: ValueMetrics = field(default_factory=dict)
    """The errors of predicted numbers and dates by slot, if there are any."""

    @property
    def columns(self) -> list[str]:
        """The names of the metrics of any group, registered metrics first. Without groups, all registered metrics."""
        registered = [*METRICS, *TIE_BOUNDS]
        present = dict.fromkeys(name for figures in self.metrics.values() for name in figures)
        return [name for name in dict.fromkeys([*registered, *present]) if name in present] or registered

    def as_dict(self) -> dict[str, Any]:
        """The report as a dictionary, for JSON."""
        return {
            "dataset": self.dataset,
            "split": self.split,
            "protocol": self.protocol.as_dict(),
            "metrics": {group: dict(figures) for group, figures in self.metrics.items()},
            "notes": list(self.notes),
            **({"literals": {slot: dict(figures) for slot, figures in self.literals.items()}} if self.literals else {}),
        }

    @property
    def curve(self) -> dict[str, dict[str, float]]:
        """The MRR of each group by number of given qualifiers (``0``, ``1``, ..., ``all``), if it was measured."""
        points: dict[str, dict[str, float]] = {}
        for name, figures in self.metrics.items():
            if matched := fullmatch(r"(.*)\[given=(\w+)\]", name):
                points.setdefault(matched[1], {})[matched[2]] = figures["mrr"]
        return points

    def table(self) -> str:
        """The report as a plain-text table."""
        curve = [f"\n{_CURVE_TITLE}", self._curve_table().text()] if self.curve else []
        literals = [f"\n{_LITERALS_TITLE}", self._literals_table().text()] if self.literals else []
        return "\n".join([f"{self.dataset}, {self.split}", self._table().text(), *curve, *literals, *self._below()])

    def csv(self) -> str:
        """The report as unrounded CSV; the lines below the table start with ``#``."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["dataset", "split", "group", *self.columns])
        for group, figures in self.metrics.items():
            writer.writerow([self.dataset, self.split, group, *(figures.get(name) for name in self.columns)])
        return text.getvalue() + "".join(f"# {line}\n" for line in self._below())

    def latex(self) -> str:
        """The report as a LaTeX ``tabular`` that needs no package, with the protocol below it."""
        curve = f"{self._curve_table().latex(_CURVE_TITLE + '.')}\n" if self.curve else ""
        literals = f"{self._literals_table().latex(_LITERALS_TITLE + '.')}\n" if self.literals else ""
        return curve + literals + self._table().latex(" ".join([f"{self.dataset}, {self.split}.", *self._below()]))

    def _table(self) -> Table:
        rows = [[group, *self._cells(figures)] for group, figures in self.metrics.items() if "[given=" not in group]
        return Table([*left(""), *right(*self._titles())], rows)

    def _curve_table(self) -> Table:
        curve = self.curve
        levels = list(dict.fromkeys(level for points in curve.values() for level in points))
        counts = {group: f"{self.metrics[f'{group}[given={levels[-1]}]']['count']:,}" for group in curve}
        rows = [[group, *(f"{curve[group][level]:.3f}" for level in levels), counts[group]] for group in curve]
        return Table([*left("given"), *right(*levels, "Queries")], rows)

    def _literals_table(self) -> Table:
        """Errors in the unit of the slot, dates in years; those of all slots in units of the spread."""
        rows = [
            [
                "all, in units of the spread" if slot == ALL_SLOTS else slot,
                *(f"{figures[name]:,.4g}" for name in ("mae", "median_error", "usual_mae")),
                f"{figures['in_interval']:.0%}",
                f"{figures['count']:,}",
            ]
            for slot, figures in self.literals.items()
        ]
        titles = ("MAE", "Median error", "Baseline MAE", f"In {INTERVAL:.0%} interval", "Queries")
        return Table([*left("literal"), *right(*titles)], rows)

    def _below(self) -> list[str]:
        return [self.protocol.describe(), *self.notes]

    def _titles(self) -> list[str]:
        return [_TITLES.get(name, name.capitalize()) for name in self.columns]

    def _cells(self, figures: Mapping[str, float]) -> list[str]:
        return [_cell(name, figures[name]) if name in figures else "" for name in self.columns]

    def to_polars(self) -> "polars.DataFrame":
        """A data frame with one row per group of queries."""
        import polars as pl

        rows = [
            {
                "dataset": self.dataset,
                "split": self.split,
                "group": group,
                **{name: row.get(name) for name in self.columns},
            }
            for group, row in self.metrics.items()
        ]
        return pl.DataFrame(rows)

    def to_pandas(self) -> Any:
        """The same as :meth:`to_polars`, but for pandas, which must be installed."""
        from nary.data.frames import as_pandas

        return as_pandas(self.to_polars())

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        shown = self.metrics.get("entity") or next(iter(self.metrics.values()), {})
        figures = ", ".join(f"{_TITLES.get(name, name)} {_cell(name, shown[name])}" for name in _SHORT if name in shown)
        return f"Report({self.dataset}, {self.split}: {figures or 'no queries'})"

    def _repr_html_(self) -> str:
        return table_html(self._table(), f"{self.dataset}, {self.split}", self._below())


def _cell(name: str, figure: float) -> str:
    return f"{figure:,}" if name == "count" else f"{figure:,.3f}"
