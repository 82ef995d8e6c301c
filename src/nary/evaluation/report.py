"""A report: the metrics of a ranking with the protocol behind them, for people and for machines."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nary.evaluation.metrics import MEASURES, Metrics
from nary.evaluation.protocol import Protocol
from nary.tables import Table, left, right

FIGURES = (*MEASURES, "optimistic", "pessimistic")
_TITLES = {"mrr": "MRR", "mr": "MR", "count": "Queries", "optimistic": "MRR opt.", "pessimistic": "MRR pess."}


@dataclass(frozen=True)
class Report:
    """What came of ranking the facts of ``split``; ``notes`` tell what a reader of the figures should know."""

    dataset: str
    split: str
    protocol: Protocol
    metrics: Metrics
    notes: Sequence[str] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "dataset": self.dataset,
            "split": self.split,
            "protocol": self.protocol.as_dict(),
            "metrics": {group: dict(figures) for group, figures in self.metrics.items()},
            "notes": list(self.notes),
        }

    def table(self) -> str:
        """A table in plain text."""
        return "\n".join([f"{self.dataset}, {self.split}", self._table().text(), *self._below()])

    def csv(self) -> str:
        """Comma-separated values, unrounded; the lines below the table start with ``#``."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["dataset", "split", "group", *FIGURES])
        for group, figures in self.metrics.items():
            writer.writerow([self.dataset, self.split, group, *(figures[name] for name in FIGURES)])
        return text.getvalue() + "".join(f"# {line}\n" for line in self._below())

    def latex(self) -> str:
        """A ``tabular`` that needs no package, and the protocol below it."""
        return self._table().latex(" ".join([f"{self.dataset}, {self.split}.", *self._below()]))

    def _table(self) -> Table:
        rows = [[group, *_cells(figures)] for group, figures in self.metrics.items()]
        return Table([*left(""), *right(*_titles())], rows)

    def _below(self) -> list[str]:
        return [self.protocol.describe(), *self.notes]

    def __str__(self) -> str:
        return self.table()


def _titles() -> list[str]:
    return [_TITLES.get(name, name.capitalize()) for name in FIGURES]


def _cells(figures: Any) -> list[str]:
    return [f"{figures[name]:,}" if name == "count" else f"{figures[name]:,.3f}" for name in FIGURES]
