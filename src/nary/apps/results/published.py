"""Published figures and what is said about them, from ``published.toml`` in a folder of results."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from pathlib import Path

from nary.config import read_toml
from nary.errors import DataError

FILE = "published.toml"
MEASURES = ("mrr", "hits@1", "hits@10")


@dataclass(frozen=True)
class Figures:
    """What was published of one system on one dataset; nan where a figure is not given."""

    values: tuple[float, float, float]
    """In the order of ``MEASURES``."""
    source: str
    remark: str = ""


@dataclass(frozen=True)
class Published:
    """All published figures by dataset, group and system; sources by name; notes on rows of ours by their names."""

    figures: Mapping[tuple[str, str, str], Figures]
    sources: Mapping[str, str]
    notes: Mapping[str, str]

    def on(self, dataset: str, group: str) -> dict[str, Figures]:
        """The figures of all systems on one dataset and group."""
        return {key[2]: figures for key, figures in self.figures.items() if key[:2] == (dataset, group)}


def read_published(folder: Path) -> Published:
    """The published figures in a folder of results; none if it has no file of them."""
    path = folder / FILE
    tables = read_toml(path) if path.is_file() else {}
    figures = {}
    try:
        for block in tables.get("figure", []):
            for system, values in block["of"].items():
                mrr, first, tenth = values + [nan] * (len(MEASURES) - len(values))
                remark = block.get("remark", {}).get(system, "")
                key = (block["dataset"], block["group"], system)
                if key in figures:
                    raise DataError(f"two figures for {', '.join(key)}", "Leave one.", str(path))
                figures[key] = Figures((mrr, first, tenth), block["source"], remark)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"not a file of published figures: {error!r}", file=str(path)) from None
    return Published(figures, tables.get("sources", {}), tables.get("notes", {}))
