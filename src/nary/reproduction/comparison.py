"""Runs side by side: text, Markdown, LaTeX, CSV, JSON and a plot, with warnings where they are not comparable."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from nary.errors import OutputError
from nary.evaluation.metrics import GROUPS
from nary.html import table_html
from nary.plotting import new_figure, save_figure
from nary.reproduction.compared_run import ComparedRun, read_runs
from nary.reproduction.curve_plot import LEVELS, has_curve, plot_given
from nary.reproduction.recipe_groups import RecipeGroup, group_runs, groups_table
from nary.tables import Strong, Table, escape_markdown, left, right

if TYPE_CHECKING:
    import polars

_SHOWN = [("entity", "mrr"), ("entity", "hits@1"), ("entity", "hits@10")]
_SHOWN += [(group, "mrr") for group in ("subject/object", "value", "relation")]
_CURVE = tuple((f"{group}[given={level}]", "mrr") for group in ("object", "entity") for level in LEVELS)
_EXPORTED = ("mrr", "hits@1", "hits@3", "hits@10", "count")
_TITLES = {"mrr": "MRR", "hits@1": "Hits@1", "hits@10": "Hits@10"}
_SUFFIXES = {"entity": "", "subject/object": " s/o", "value": " value", "relation": " relation"}
_DESCRIPTION = ("run", "model", "recipe", "data", "seed")
_COSTS = ("parameters", "epochs", "seconds")
_TIMED_COLOR, _UNTIMED_COLOR = "#2f6690", "#6b7280"
_RECIPES = "Recipes, mean ± standard deviation over runs"
_LOG_SCALE_FROM = 10  # ratio of the longest to the shortest training


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Runs by their reports on one split."""

    split: str
    given: Sequence[ComparedRun]
    reach: float | None = None
    """Also show the training time until each run had this MRR on valid."""

    @cached_property
    def runs(self) -> list[ComparedRun]:
        """Sorted by entity MRR, best first."""
        return sorted(self.given, key=lambda run: -(run.metric("entity", "mrr") or 0))

    @cached_property
    def recipes(self) -> list[RecipeGroup]:
        """Runs that differ in the seed only, taken together, best first."""
        return group_runs(self.runs)

    @property
    def _by_recipe(self) -> bool:
        """Whether a table of recipes says more than that of runs."""
        return len(self.recipes) < len(self.runs) or any(group.difference for group in self.recipes)

    @cached_property
    def below(self) -> list[str]:
        """The lines below the table: the protocol, if all runs share it, and warnings."""
        protocols = {run.protocol.describe() for run in self.runs}
        lines = [*protocols] if len(protocols) == 1 else []
        untimed = [run.run for run in self.runs if self.reach is not None and not run.validations]
        if untimed:
            lines.append(f"No validations, so no time to an MRR: {', '.join(untimed)}. Train with training.eval_every.")
        return [*lines, *self.warnings]

    @cached_property
    def warnings(self) -> list[str]:
        """Reasons why these runs should not be compared."""
        return list(_differences(self.runs))

    def best(self, group: str, name: str) -> float | None:
        """The best value of a metric."""
        return max((value for run in self.runs if (value := run.metric(group, name)) is not None), default=None)

    def text(self) -> str:
        """A plain-text table with a star after the best value of each column, and one of recipes over seeds."""
        recipes = f"\n\n{_RECIPES}\n{groups_table(self.recipes).text()}" if self._by_recipe else ""
        return self._table().text() + recipes

    def markdown(self) -> str:
        """A Markdown table with the best values in bold, and one of recipes over seeds."""
        tables = [self._table(escape_markdown).markdown(), ""]
        if self._by_recipe:
            tables += [groups_table(self.recipes, escape_markdown).markdown(), ""]
        return "\n".join([*tables, *(f"{escape_markdown(line)}  " for line in self.below)]) + "\n"

    def latex(self) -> str:
        """A LaTeX ``tabular`` with the best values in bold."""
        return self._table().latex(" ".join(self.below))

    def as_dict(self) -> dict[str, Any]:
        """For JSON: everything that is known, unrounded."""
        runs = [
            {
                **{name: getattr(run, name) for name in (*_DESCRIPTION, "path", "train_on", "fingerprint")},
                **dict(zip(self._cost_titles, self._costs(run), strict=True)),
                "protocol": run.protocol.as_dict(),
                "metrics": run.metrics,
            }
            for run in self.runs
        ]
        best = {
            f"{name} {group}": [run.run for run in self.runs if run.metric(group, name) == self.best(group, name)]
            for group, name in self._shown
        }
        recipes = [group.as_dict() for group in self.recipes]
        return {"split": self.split, "runs": runs, "recipes": recipes, "best": best, "warnings": self.warnings}

    def json(self) -> str:
        """A JSON document."""
        return orjson.dumps(self.as_dict(), option=orjson.OPT_INDENT_2).decode() + "\n"

    def csv(self) -> str:
        """Comma-separated values, unrounded, for all query groups; lines below the table start with ``#``."""
        text = io.StringIO()
        records = self._records()
        writer = csv.DictWriter(text, records[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        return text.getvalue() + "".join(f"# {line}\n" for line in self.below)

    def to_polars(self) -> "polars.DataFrame":
        """A data frame with a row for each run and the metrics of all query groups, unrounded."""
        import polars as pl

        return pl.DataFrame(self._records(), infer_schema_length=None)

    def to_pandas(self) -> Any:
        """The same as :meth:`to_polars`, for pandas, which must be installed."""
        from nary.data.frames import as_pandas

        return as_pandas(self.to_polars())

    def _records(self) -> list[dict[str, Any]]:
        groups = [group for group in (*GROUPS, *dict(_CURVE)) if any(group in run.metrics for run in self.runs)]
        columns = [(group, name) for group in groups for name in _EXPORTED]
        return [
            {
                **{name: getattr(run, name) for name in _DESCRIPTION},
                **dict(zip(self._cost_titles, self._costs(run), strict=True)),
                **{f"{name} {group}": run.metric(group, name) for group, name in columns},
            }
            for run in self.runs
        ]

    def __repr__(self) -> str:
        return f"Comparison({len(self.given)} runs on {self.split})"

    def __str__(self) -> str:
        return "\n".join([self.text(), *self.below])

    def _repr_html_(self) -> str:
        runs = table_html(self._table(), f"{len(self.given)} runs on {self.split}", self.below)
        return runs + (table_html(groups_table(self.recipes), _RECIPES) if self._by_recipe else "")

    def plot(self, path: Path) -> None:
        """Plot entity MRR over training time; runs without a training time are horizontal lines.

        If every run was evaluated with ``evaluation.given = "curve"``, plot MRR by number of qualifiers given instead.
        """
        if self.given and all(map(has_curve, self.given)):
            plot_given(self.given, self.split, path)
            return
        values = [(run, run.metric("entity", "mrr")) for run in self.runs]
        points = [(run.run, run.seconds, mrr) for run, mrr in values if mrr is not None]
        if not points:
            raise OutputError("no run has an entity MRR to plot", "Evaluate subjects, objects or values.")
        figure = new_figure(path, 8, 5)
        axes = figure.subplots()
        for name, seconds, mrr in points:
            if seconds:
                axes.scatter([seconds], [mrr], color=_TIMED_COLOR)
            else:
                axes.axhline(mrr, color=_UNTIMED_COLOR, linestyle="--", linewidth=1)
            axes.annotate(
                name,
                (seconds or 0.01, mrr),
                xycoords="data" if seconds else ("axes fraction", "data"),
                xytext=(4, 4),
                textcoords="offset points",
                fontsize=8,
                color=_TIMED_COLOR if seconds else _UNTIMED_COLOR,
                parse_math=False,
            )
        times = [seconds for _, seconds, _ in points if seconds]
        if times and max(times) > _LOG_SCALE_FROM * min(times):
            axes.set_xscale("log")
        axes.margins(0.2)
        axes.set_xlabel("training time (seconds)")
        axes.set_ylabel(f"{self.split} MRR (entities)")
        axes.spines[["top", "right"]].set_visible(False)
        save_figure(figure, path)

    def _table(self, escape: Callable[[str], str] = str) -> Table:
        """The rows as text; ``escape`` is applied to what is not a number."""
        titles = [_title(group, name) for group, name in self._shown]
        rows = []
        for run in self.runs:
            description = [escape(_formatted(getattr(run, name))) for name in _DESCRIPTION]
            metrics = [self._metric_cell(run, group, name) for group, name in self._shown]
            rows.append([*description, *metrics, *(_formatted(cost, 0) for cost in self._costs(run))])
        return Table([*left(*_DESCRIPTION), *right(*titles, *self._cost_titles)], rows)

    def _metric_cell(self, run: ComparedRun, group: str, name: str) -> str:
        value = run.metric(group, name)
        cell = _formatted(value)
        return Strong(cell) if value is not None and value == self.best(group, name) else cell

    @property
    def _cost_titles(self) -> list[str]:
        return [*_COSTS, *([] if self.reach is None else [f"seconds to {self.reach:g}"])]

    def _costs(self, run: ComparedRun) -> list[float | None]:
        reached = [] if self.reach is None else [run.seconds_to(self.reach)]
        return [run.parameters, run.epochs, run.seconds, *reached]

    @cached_property
    def _shown(self) -> list[tuple[str, str]]:
        """The metrics that at least one run has."""
        return [column for column in (*_SHOWN, *_CURVE) if self.best(*column) is not None]


def compare(
    runs: Sequence[str | Path],
    *,
    split: str = "test",
    protocol: Mapping[str, Any] | None = None,
    significance: bool = False,
) -> Comparison:
    """Compare evaluated runs.

    Args:
        runs: Run folders, model folders or result records. A folder must hold a report on ``split``:
            ``nary evaluate RUN``, or ``model.add_report(model.evaluate(), folder)``.
        split: The split they were evaluated on.
        protocol: Use reports by another protocol than that of each recipe, such as ``{"evaluation.filter": "none"}``.
        significance: Rank all queries again, and test how far each recipe is behind the best.

    Returns:
        A table for terminals and notebooks, which ``to_polars`` and ``to_pandas`` turn into a data frame.

    """
    return Comparison(split, read_runs([Path(run) for run in runs], split, protocol or {}, rank=significance))


def _title(group: str, name: str) -> str:
    group, _, given = group.removesuffix("]").partition("[given=")
    return f"{group} {given} given" if given else f"{_TITLES[name]}{_SUFFIXES[group]}"


def _differences(runs: Sequence[ComparedRun]) -> Iterator[str]:
    """Differences in data, queries, protocol and training splits, one line each."""
    data = list(_difference("Different data", runs, [run.data for run in runs]))
    fingerprints = [run.fingerprint[:12] if run.fingerprint else None for run in runs]
    yield from data or _difference("Different facts under the same name, by fingerprint", runs, fingerprints)
    protocols = [run.protocol.model_dump(exclude={"memory"}) for run in runs]
    for key in protocols[0]:
        yield from _difference(f"Different protocols, {key}", runs, [_text(protocol[key]) for protocol in protocols])
    if len({run.dataset for run in runs}) == 1:
        for group in GROUPS:
            counts = [_text(run.metric(group, "count")) for run in runs]
            yield from _difference(f"Different queries, {group}", runs, counts)
    yield from _difference("Trained on different splits", runs, [_text(run.train_on) for run in runs])


def _difference(what: str, runs: Sequence[ComparedRun], values: Sequence[str | None]) -> Iterator[str]:
    """A line with the runs for each of ``values``, if there are several; unknown values do not count."""
    names: dict[str, list[str]] = {}
    for run, value in zip(runs, values, strict=True):
        if value is not None:
            names.setdefault(value, []).append(run.run)
    if len(names) > 1:
        parts = [f"{value} ({', '.join(having)})" for value, having in names.items()]
        yield f"{what}: {'; '.join(parts)}."


def _text(value: object) -> str | None:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "all"
    return f"{value:,}" if isinstance(value, int) else None if value is None else str(value)


def _formatted(value: object, digits: int = 3) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.{digits}f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
