"""What was evaluated of a model: ``metrics.json`` in the model folder, and beside it the card that shows it.

``metrics.json`` is a list of reports on the splits the folder holds, one for each split and protocol: the newest.
"""

from collections.abc import Sequence
from pathlib import Path

import orjson

from nary.config import Settings, validate_settings
from nary.data.files import atomic_path
from nary.evaluation.protocol import Protocol
from nary.evaluation.report import FIGURES, Report
from nary.inference.folder import reading

METRICS = "metrics.json"
CARD = "README.md"


class _Stored(Settings):
    """A report as ``metrics.json`` holds it."""

    dataset: str
    split: str
    protocol: Protocol
    metrics: dict[str, dict[str, int | float]]
    notes: list[str]


def with_report(reports: Sequence[Report], report: Report) -> list[Report]:
    """``reports`` with ``report`` in the place of an older one on the same split by the same protocol."""

    def subject(one: Report) -> object:
        return one.split, one.protocol.as_dict()

    return [*(old for old in reports if subject(old) != subject(report)), report]


def load_reports(folder: Path) -> list[Report]:
    """What was evaluated of the model in ``folder``; nothing if it has no ``metrics.json``."""
    path = folder / METRICS
    if not path.exists():
        return []
    with reading(path):
        content = orjson.loads(path.read_bytes())
        if not isinstance(content, list) or not all(isinstance(one, dict) for one in content):
            raise ValueError("it is no list of reports")
        stored = [validate_settings(_Stored, one, "report") for one in content]
        if any(set(FIGURES) - set(figures) for one in stored for figures in one.metrics.values()):
            raise ValueError(f"a group has not all of {', '.join(FIGURES)}")
    return [Report(one.dataset, one.split, one.protocol, one.metrics, one.notes) for one in stored]


def save_reports(folder: Path, reports: Sequence[Report]) -> None:
    """Write ``metrics.json``."""
    content = orjson.dumps([report.as_dict() for report in reports], option=orjson.OPT_INDENT_2)
    with atomic_path(folder / METRICS) as temporary:
        temporary.write_bytes(content)


def save_card(folder: Path, text: str, before: str | None = None) -> None:
    """Write the card; where ``before`` is given, only over a card that is still that: not over what people wrote."""
    path = folder / CARD
    if before is not None and path.is_file() and path.read_bytes() != before.encode():
        return
    with atomic_path(path) as temporary:
        temporary.write_bytes(text.encode())
