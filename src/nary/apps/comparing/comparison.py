"""A comparison: runs, best first, as a table for people and for machines."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson

from nary.apps.comparing.differences import differences
from nary.apps.comparing.reading import Compared
from nary.evaluation.metrics import GROUPS
from nary.evaluation.report import LATEX
from nary.inference.card import escaped

_SHOWN = [("entity", "mrr"), ("entity", "hits@1"), ("entity", "hits@10")]
_SHOWN += [(group, "mrr") for group in ("subject/object", "value", "relation")]
_MEASURES = ("mrr", "hits@1", "hits@3", "hits@10", "count")
_TITLES = {"mrr": "MRR", "hits@1": "Hits@1", "hits@10": "Hits@10"}
_SHORT = {"entity": "", "subject/object": " s/o", "value": " value", "relation": " relation"}
_ABOUT = ("run", "model", "recipe", "data", "seed")
_COST = ("parameters", "epochs", "seconds")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Runs by their reports on one split."""

    split: str
    given: Sequence[Compared]
    reach: float | None = None
    """Also tell after how many seconds of training each had this MRR on valid."""

    @cached_property
    def runs(self) -> list[Compared]:
        """By the MRR of entities, the best first."""
        return sorted(self.given, key=lambda run: -(run.figure("entity", "mrr") or 0))

    @cached_property
    def below(self) -> list[str]:
        """What to read under the table: the protocol, if it is the same for all, and why to be careful."""
        same = {run.protocol.describe() for run in self.runs}
        untimed = [run.run for run in self.runs if self.reach is not None and not run.validations]
        told = [f"No validations, so no time to an MRR: {', '.join(untimed)}. Train with training.eval_every."]
        return [*(same if len(same) == 1 else ()), *(told if untimed else ()), *self.warnings]

    @cached_property
    def warnings(self) -> list[str]:
        """Why figures of these runs should not be held against each other."""
        return differences(self.runs)

    def best(self, group: str, measure: str) -> float | None:
        """The best figure of all runs."""
        return max((figure for run in self.runs if (figure := run.figure(group, measure)) is not None), default=None)

    def table(self) -> str:
        """A table in plain text, a star behind the best figure of a column."""
        lines = [self._header, *self._cells(lambda cell: f"{cell}*")]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = []
        for line in lines:
            cells = [cell.ljust(width) for cell, width in zip(line[: len(_ABOUT)], widths, strict=False)]
            figures = zip(line[len(_ABOUT) :], widths[len(_ABOUT) :], strict=True)
            cells += [(cell if cell.endswith("*") else f"{cell} ").rjust(width + 1) for cell, width in figures]
            text.append(" ".join(cells).rstrip())
        return "\n".join(text)

    def as_dict(self) -> dict[str, Any]:
        """For JSON: everything that is known, unrounded."""
        runs = [
            {
                **{name: getattr(run, name) for name in (*_ABOUT, "path", "train_on", "fingerprint")},
                **dict(zip(self._cost_titles, self._costs(run), strict=True)),
                "protocol": run.protocol.as_dict(),
                "metrics": run.metrics,
            }
            for run in self.runs
        ]
        best = {
            f"{measure} {group}": [run.run for run in self.runs if run.figure(group, measure) == top]
            for group, measure in self._shown
            if (top := self.best(group, measure)) is not None
        }
        return {"split": self.split, "runs": runs, "best": best, "warnings": self.warnings}

    def json(self) -> str:
        """A JSON document."""
        return orjson.dumps(self.as_dict(), option=orjson.OPT_INDENT_2).decode() + "\n"

    def csv(self) -> str:
        """Comma-separated values, unrounded, all groups; the lines below the table start with ``#``."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        groups = [group for group in GROUPS if any(group in run.metrics for run in self.runs)]
        columns = [(group, measure) for group in groups for measure in _MEASURES]
        writer.writerow([*_ABOUT, *self._cost_titles, *(f"{measure} {group}" for group, measure in columns)])
        for run in self.runs:
            about = [getattr(run, name) for name in _ABOUT]
            writer.writerow([*about, *self._costs(run), *(run.figure(*column) for column in columns)])
        return text.getvalue() + "".join(f"# {line}\n" for line in self.below)

    def markdown(self) -> str:
        """A table in Markdown, the best figures in bold."""
        aligned = ["---"] * len(_ABOUT) + ["--:"] * (len(self._header) - len(_ABOUT))
        rows = [self._header, aligned, *self._cells(lambda cell: f"**{cell}**", escaped)]
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        return "\n".join([*lines, "", *(f"{escaped(line)}  " for line in self.below)]) + "\n"

    def latex(self) -> str:
        """A ``tabular`` that needs no package, the best figures in bold."""
        aligned = "l" * len(_ABOUT) + "r" * (len(self._header) - len(_ABOUT))
        titles = [title.translate(LATEX) for title in self._header]
        rows = self._cells(lambda cell: rf"\textbf{{{cell}}}", lambda cell: cell.translate(LATEX))
        lines = [rf"\begin{{tabular}}{{{aligned}}}", r"\hline", " & ".join(titles) + r" \\", r"\hline"]
        lines += [" & ".join(row) + r" \\" for row in rows]
        lines += [r"\hline", r"\end{tabular}"]
        return "\n".join([*lines, rf"\par{{\footnotesize {' '.join(self.below).translate(LATEX)}}}"]) + "\n"

    @property
    def _header(self) -> list[str]:
        """The titles of the columns; figures of no named group are those of entities."""
        return [*_ABOUT, *(f"{_TITLES[measure]}{_SHORT[group]}" for group, measure in self._shown), *self._cost_titles]

    @property
    def _cost_titles(self) -> list[str]:
        return [*_COST, *([] if self.reach is None else [f"seconds to {self.reach:g}"])]

    def _costs(self, run: Compared) -> list[float | None]:
        reached = [] if self.reach is None else [run.seconds_to(self.reach)]
        return [run.parameters, run.epochs, run.seconds, *reached]

    def _cells(self, mark: Callable[[str], str], text: Callable[[str], str] = str) -> list[list[str]]:
        """The rows as text: ``mark`` is done to the best figure of a column, ``text`` to what is no figure."""
        rows = []
        for run in self.runs:
            row = [text(_shown(getattr(run, name))) for name in _ABOUT]
            for group, measure in self._shown:
                figure = run.figure(group, measure)
                cell = _shown(figure)
                row.append(mark(cell) if figure is not None and figure == self.best(group, measure) else cell)
            rows.append([*row, *(_shown(cost, 0) for cost in self._costs(run))])
        return rows

    @cached_property
    def _shown(self) -> list[tuple[str, str]]:
        """The figures that some run has."""
        return [column for column in _SHOWN if self.best(*column) is not None]


def _shown(value: object, digits: int = 3) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.{digits}f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
