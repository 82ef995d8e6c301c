"""Results of ours that differ in nothing but the seed, together: one row of a table."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import orjson

from nary.runs.reproduce import settings_of
from nary.runs.results import read_results
from nary.runs.resuming import seedless
from nary.runs.tables import all_rows


@dataclass(frozen=True)
class Own:
    """Results with equal settings, by seed."""

    name: str
    """To ``nary reproduce``."""
    file: str
    results: Sequence[Mapping[str, Any]]
    outdated: bool = False
    """Whether the recipe of that name has other settings by now."""

    @property
    def dataset(self) -> str:
        """What it was trained and ranked on."""
        return str(self.results[0]["dataset"])

    @property
    def system(self) -> str:
        """Model and variant, as published figures are filed; without qualifiers it is another system."""
        first = self.results[0]
        whole = first["recipe"]["data"].get("qualifiers", True)
        return "-".join(part for part in (first["model"], first["variant"], None if whole else "triples") if part)

    @property
    def model(self) -> str:
        """The model."""
        return str(self.results[0]["model"])

    @property
    def protocol(self) -> str:
        """The rules of the ranking and what was learned from, in words."""
        first = self.results[0]
        stated = first["protocol"].items()
        rules = (f"{key} {' '.join(value) if isinstance(value, list) else value}" for key, value in stated if value)
        return f"{', '.join(rules)}. Learned from {' and '.join(first['trained_on'])}"

    @property
    def seconds(self) -> float | None:
        """The mean time of a training."""
        times = [result["seconds"] for result in self.results if result["seconds"]]
        return mean(times) if times else None

    def values(self, group: str, measure: str) -> list[float]:
        """One figure for each seed; none if the model does not predict that."""
        return [r["metrics"][group][measure] for r in self.results if group in r["metrics"]]

    def questions(self, group: str) -> int:
        """How many it was asked."""
        return max((int(result["metrics"].get(group, {}).get("count", 0)) for result in self.results), default=0)

    def figure(self, group: str, measure: str) -> str:
        """Mean and spread over the seeds."""
        values = self.values(group, measure)
        if not values:
            return ""
        return f"{mean(values):.3f}" + (f" ± {stdev(values):.3f}" if len(values) > 1 else "")

    def links(self) -> str:
        """The files, by seed."""
        return " ".join(f"[{result['seed']}]({result['link']})" for result in self.results)


def read_own(folder: Path, split: str = "test", page: Path | None = None) -> list[Own]:
    """All rows of results on a split under ``folder``; links lead from ``page``, or from a file beside the folder."""
    way = Path(os.path.relpath(folder, page.parent if page else folder.parent)).as_posix()
    rows = {(row.dataset, row.file): row for row in all_rows().values()}
    found: dict[tuple[str, str, bytes], list[dict[str, Any]]] = {}
    for result in read_results(folder):
        if result["split"] == split:
            result["link"] = f"{way}/{result['path']}"
            file = result["path"].rpartition("/")[2].rpartition("-seed")[0]
            found.setdefault((result["dataset"], file, _key(settings_of(result))), []).append(result)
    own = []
    for (dataset, file, settings), results in found.items():
        row = rows.get((dataset, file))
        outdated = row is not None and settings != _key(seedless(row.recipe))
        name = f"{file}/{dataset}" if row is None else row.name
        own.append(Own(name, file, sorted(results, key=lambda result: result["seed"]), outdated))
    return own


def _key(settings: dict[str, Any] | None) -> bytes:
    return orjson.dumps(settings, option=orjson.OPT_SORT_KEYS)
