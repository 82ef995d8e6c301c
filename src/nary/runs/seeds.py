"""One recipe over several seeds: a run for each, and the mean and standard deviation of their metrics."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

import orjson

from nary.data.dataset import Dataset
from nary.errors import OutputError, SettingError
from nary.evaluation.metrics import GROUPS
from nary.evaluation.report import Report
from nary.files.writing import atomic_path
from nary.html import table_html
from nary.recipe import Recipe
from nary.runs.run_folder import is_run_folder
from nary.runs.training import InterruptedRun, TrainingResult, train_or_resume, train_recipe
from nary.tables import Table, left, right
from nary.training.callbacks import Callback

if TYPE_CHECKING:
    import polars

SUMMARY = "summary.json"
_SHOWN = {"mrr": "MRR", "hits@1": "Hits@1", "hits@3": "Hits@3", "hits@10": "Hits@10"}


@dataclass(frozen=True, repr=False)
class SeedResults:
    """The runs of one recipe over several seeds, each with its report on ``split``."""

    split: str
    seeds: Sequence[int]
    runs: Sequence[TrainingResult]
    reports: Sequence[Report]
    folder: Path | None = None

    def mean(self, group: str, metric: str) -> float:
        """The mean of a metric over the seeds."""
        return fmean(self._values(group, metric))

    def std(self, group: str, metric: str) -> float:
        """The standard deviation of a metric over the seeds, as estimated from a sample; 0 for one seed."""
        values = self._values(group, metric)
        return stdev(values) if len(values) > 1 else 0.0

    def _values(self, group: str, metric: str) -> list[float]:
        return [report.metrics[group][metric] for report in self.reports]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "folder": None if self.folder is None else str(self.folder),
            "split": self.split,
            "seeds": list(self.seeds),
            "protocol": self.reports[0].protocol.as_dict(),
            "metrics": {row.pop("group"): row for row in self._rows()},
            "runs": [
                {"seed": seed, **run.as_dict(), "report": report.as_dict()}
                for seed, run, report in zip(self.seeds, self.runs, self.reports, strict=True)
            ],
        }

    def to_polars(self) -> "polars.DataFrame":
        """A data frame with a row for each group of queries: mean and standard deviation of each metric."""
        import polars as pl

        return pl.DataFrame(list(self._rows()))

    def to_pandas(self) -> Any:
        """The same as :meth:`to_polars`, for pandas, which must be installed."""
        from nary.data.frames import as_pandas

        return as_pandas(self.to_polars())

    def _rows(self) -> Iterator[dict[str, Any]]:
        for group in [group for group in GROUPS if group in self.reports[0].metrics]:
            row: dict[str, Any] = {"group": group}
            for metric in _SHOWN:
                row |= {metric: self.mean(group, metric), f"{metric} std": self.std(group, metric)}
            yield row

    def _table(self) -> Table:
        rows = [
            [row["group"], *(f"{row[metric]:.3f} ± {row[f'{metric} std']:.3f}" for metric in _SHOWN)]
            for row in self._rows()
        ]
        return Table([*left(""), *right(*_SHOWN.values())], rows)

    @property
    def _caption(self) -> str:
        model = self.runs[0].model
        of = f"mean ± standard deviation of {len(self.seeds)} seeds"
        return f"{model.name} on {model.dataset.name}, {self.split}: {of}"

    def __repr__(self) -> str:
        figures = f"MRR {self.mean('entity', 'mrr'):.3f} ± {self.std('entity', 'mrr'):.3f}"
        return f"SeedResults({len(self.seeds)} seeds, {self.split}: {figures})"

    def __str__(self) -> str:
        return "\n".join([self._caption, self._table().text(), self.reports[0].protocol.describe()])

    def _repr_html_(self) -> str:
        return table_html(self._table(), self._caption, [self.reports[0].protocol.describe()])


def train_seeds(
    dataset: Dataset, recipe: Recipe, seeds: Sequence[int], folder: Path | None, callbacks: Sequence[Callback] = ()
) -> SeedResults:
    """Train ``recipe`` on a dataset from :func:`prepare_dataset` with each seed, and rank the test split.

    With ``folder``, each seed has a run folder in it, with its report. Called again, it goes on where it was
    interrupted. Without a test split, the valid split is ranked.
    """
    check_seeds(seeds)
    if recipe.parts:
        raise SettingError("the parts of a blend have seeds of their own", "Train one model: --model gran.")
    split = "test" if "test" in dataset.splits else "valid"
    if folder is not None:
        _check_experiment(folder)
    runs, reports = [], []
    for seed in seeds:
        seeded = recipe.with_overrides({"training.seed": seed})
        if folder is None:
            result = train_recipe(dataset, seeded, None, callbacks)
        else:
            try:
                result = train_or_resume(seeded, folder / f"seed{seed}", lambda: dataset, callbacks)
            except InterruptedRun as interrupted:
                raise InterruptedRun(interrupted.message, "Run the same command again to continue.") from None
        runs.append(result)
        reports.append(_report(result, split))
    results = SeedResults(split, seeds, runs, reports, folder)
    if folder is not None:
        content = orjson.dumps(results.as_dict(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        with atomic_path(folder / SUMMARY) as temporary:
            temporary.write_bytes(content)
    return results


def check_seeds(seeds: Sequence[int]) -> None:
    """Refuse no seeds, or one that is given twice."""
    if not seeds or len(set(seeds)) < len(seeds):
        listed = ", ".join(map(str, seeds)) or "none"
        raise SettingError(f"the seeds are {listed}", "Give different ones, such as 0,1,2.")


def _check_experiment(folder: Path) -> None:
    """Refuse a folder that holds something else than the runs of seeds."""
    if is_run_folder(folder) or (folder.exists() and not folder.is_dir()):
        raise OutputError(f"{folder} is not a folder of runs over seeds", "Choose another --out.")
    names = [path.name for path in folder.iterdir()] if folder.exists() else []
    if others := [name for name in names if not name.startswith(("seed", SUMMARY, "."))]:
        raise OutputError(f"{folder} holds {others[0]}, which no run over seeds writes", "Choose another --out.")


def _report(result: TrainingResult, split: str) -> Report:
    """The report on ``split``, which is ranked and stored unless it was."""
    protocol = result.model.protocol().as_dict()
    for stored in result.model.reports:
        if stored.split == split and stored.protocol.as_dict() == protocol:
            return stored
    report = result.model.evaluate(split)
    result.model.add_report(report, None if result.folder is None else result.folder.model_path)
    return report
