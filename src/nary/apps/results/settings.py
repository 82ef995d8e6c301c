"""What each setting does: a recipe beside itself with one setting changed, on the valid split."""

from collections.abc import Sequence
from statistics import mean

from nary.apps.results.own import Own
from nary.apps.results.published import MEASURES
from nary.apps.results.tables import markdown, signed
from nary.runs.reproduce import settings_of
from nary.runs.tuning import TRIED

_LEGEND = """MRR of all entities in the valid split; every row learned from train alone, in fewer epochs than the tables
above have. `nary tune DATA --search each --results FOLDER` makes such a table ([Reproducing](reproducing.md))."""


def one_at_a_time(trials: Sequence[Own]) -> list[str]:
    """One table for each recipe that stands beside changed ones, the best first."""
    lines = []
    for whole in trials:
        if whole.file.endswith(f"-{TRIED}"):
            alike = (row for row in trials if (row.dataset, row.model) == (whole.dataset, whole.model))
            rows = sorted((row for row in alike if f"-{TRIED}" in row.file), key=lambda row: -_mrr(row))
            body = [_cells(row, whole) for row in rows]
            head = ["changed", "MRR", "Hits@1", "Hits@10", "difference", "seconds", "files"]
            epochs = whole.results[0]["recipe"]["training"]["epochs"]
            lines += [f"### {whole.dataset}, {whole.model}, {epochs} epochs", "", *markdown(head, body), ""]
    return [_LEGEND, "", *lines] if lines else []


def _cells(row: Own, whole: Own) -> list[str]:
    return [
        ", ".join(_changes(row, whole)) or "**nothing**",
        *(row.figure("entity", measure) for measure in MEASURES),
        "" if row is whole else signed(round(_mrr(row), 3) - round(_mrr(whole), 3)),
        "" if row.seconds is None else f"{row.seconds:,.0f}",
        row.links(),
    ]


def _mrr(row: Own) -> float:
    return mean(row.values("entity", "mrr"))


def _changes(row: Own, whole: Own) -> list[str]:
    """The settings in which they differ, whatever the row is called."""
    ours, theirs = (settings_of(own.results[0]) or own.results[0]["recipe"] for own in (row, whole))
    return [
        f"`{key} = {value}`"
        for table in ("model", "loss", "training")
        for key, value in ours[table].items()
        if key != "seed" and value != theirs[table].get(key)
    ]
