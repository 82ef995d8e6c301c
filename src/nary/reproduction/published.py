"""Published results to compare with, from ``published.toml`` in a folder of results."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from pathlib import Path

from nary.config import read_toml
from nary.errors import DataError

FILE = "published.toml"
PUBLISHED_METRICS = ("mrr", "hits@1", "hits@10")
_COMPARED_GROUPS = ("entity", "subject/object")


@dataclass(frozen=True)
class PublishedResult:
    """The published metrics of one system on one dataset and query group; nan where a metric was not reported."""

    values: tuple[float, float, float]
    """In the order of ``PUBLISHED_METRICS``."""
    source: str
    remark: str = ""

    @property
    def mrr(self) -> float:
        """The mean reciprocal rank."""
        return self.values[0]


@dataclass(frozen=True)
class BestPublished:
    """The best published MRR of a dataset and query group, and the system that reached it."""

    system: str
    mrr: float


@dataclass(frozen=True)
class Published:
    """All published results by dataset, group and system, their sources, and notes on differing rows of ours."""

    results: Mapping[tuple[str, str, str], PublishedResult]
    others: Mapping[tuple[str, str], BestPublished]
    """Better results of systems that the other tables leave out, by dataset and group."""
    sources: Mapping[str, str]
    """By the name that results refer to."""
    notes: Mapping[str, str]
    """By the name of the row."""

    def on(self, dataset: str, group: str) -> dict[str, PublishedResult]:
        """The results of all systems on one dataset and group."""
        return {key[2]: result for key, result in self.results.items() if key[:2] == (dataset, group)}

    def best(self) -> dict[tuple[str, str], BestPublished]:
        """The best result on each dataset and group that systems are compared by."""
        best: dict[tuple[str, str], BestPublished] = {}
        for (dataset, group, system), result in self.results.items():
            known = best.get((dataset, group))
            if group in _COMPARED_GROUPS and (known is None or result.mrr > known.mrr):
                best[dataset, group] = BestPublished(system, result.mrr)
        for key, other in self.others.items():
            if key not in best or other.mrr > best[key].mrr:
                best[key] = other
        return dict(sorted(best.items()))


def read_published(folder: Path) -> Published:
    """The published results in ``folder``; none if it has no ``published.toml``."""
    path = folder / FILE
    tables = read_toml(path) if path.is_file() else {}
    results = {}
    others = {}
    try:
        for block in tables.get("figure", []):
            for system, values in block["of"].items():
                mrr, hits_1, hits_10 = values + [nan] * (len(PUBLISHED_METRICS) - len(values))
                key = (block["dataset"], block["group"], system)
                if key in results:
                    raise DataError(f"two results for {', '.join(key)}", "Keep one of them.", str(path))
                remark = block.get("remark", {}).get(system, "")
                results[key] = PublishedResult((mrr, hits_1, hits_10), block["source"], remark)
        for block in tables.get("best", []):
            others[block["dataset"], block["group"]] = BestPublished(block["system"], float(block["mrr"]))
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"not a file of published results: {error!r}", file=str(path)) from None
    return Published(results, others, tables.get("sources", {}), tables.get("notes", {}))
