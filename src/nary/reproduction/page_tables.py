"""The Markdown tables of the results page, each as a list of lines."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from nary.reproduction.curve_plot import LEVELS
from nary.reproduction.experiments import is_ablation
from nary.reproduction.published import PUBLISHED_METRICS, Published, PublishedResult
from nary.reproduction.records import TRIAL_LABEL, ResultRow, recorded_settings
from nary.tables import Table, left

_LARGE_DIFFERENCE = 0.02
"""Larger differences to the published MRR want an explanation."""
_METRICS = ("MRR", "Hits@1", "Hits@10")
_COMPARED = (
    *("recipe", *_METRICS, "published MRR", "Hits@1", "Hits@10", "source", "difference"),
    *("seeds", "protocol", "seconds", "files"),
)
_OVERVIEW_DATASETS = ("jf17k-4", "jf17k-3", "fb-auto", "nobel")
"""Datasets on which every system trains in minutes."""
_OVERVIEW_LEGEND = """**MRR** (Hits@1, Hits@10) over all entities, number of parameters, training time in seconds.
Systems with several recipes for a dataset list each by name. The tables above link to the files and show which splits
each recipe was trained on: train, or train+valid."""
_SETTINGS_LEGEND = """Entity MRR on the valid split. Every row was trained on train only, for fewer epochs than in the
tables above. `nary tune DATA --search each --results FOLDER` makes such a table ([Reproducing](reproducing.md))."""
_GIVEN_GROUPS = ("object", "entity")
_GIVEN_LEGEND = """Test MRR of objects and of all entities with 0, 1, 2 and all qualifiers given, over the queries that
have any to leave out ([Partial context](partial-context.md))."""


_BLEND_GROUPS = ("entity", "subject/object", "relation")
_BLENDS_LEGEND = """Each blend, and below it its parts, each alone. The seconds of a blend are those of its parts and of
fitting its weights ([Blend](models/blend.md))."""


class Footnotes:
    """Protocols by letter, and explanations of differences to published results."""

    def __init__(self, explanations: Mapping[str, str]) -> None:
        self.protocols: list[str] = []
        self._explanations = explanations

    def letter(self, protocol: str) -> str:
        """The letter of a protocol; a protocol not met before gets the next one."""
        if protocol not in self.protocols:
            self.protocols.append(protocol)
        return _letter(self.protocols.index(protocol))

    def legend(self) -> list[str]:
        """All protocols met so far."""
        return [f"- {_letter(number)}: {protocol}." for number, protocol in enumerate(self.protocols)]

    def below(self, group: str, rows: Sequence[ResultRow], published: Mapping[str, PublishedResult]) -> list[str]:
        """Explanations of large differences, and remarks on published results."""
        lines = []
        for row in rows:
            difference = _difference(group, row, published)
            if difference is not None and abs(difference) > _LARGE_DIFFERENCE:
                why = self._explanations.get(row.name, "not explained yet")
                lines.append(f"- {_name(row)}, {_signed(difference)}: {why}.")
        remarks = ((system, result.remark) for system, result in sorted(published.items()) if result.remark)
        lines += [f"- {system}, published: {remark}." for system, remark in remarks]
        return ["", *lines] if lines else []


def published_table(
    group: str, rows: Sequence[ResultRow], published: Mapping[str, PublishedResult], notes: Footnotes
) -> list[str]:
    """Systems beside their published results, best first; those without a result of ours are in italics."""
    ranked = [(row.mean(group, "mrr"), _recorded_cells(group, row, published, notes)) for row in rows]
    missing = published.keys() - {row.system for row in rows}
    ranked += [(published[system].mrr, _published_cells(system, published[system])) for system in missing]
    ranked.sort(key=lambda one: (-one[0], one[1]))
    return [*_markdown(_COMPARED, [cells for _, cells in ranked]), *notes.below(group, rows, published)]


def breakdown_table(dataset: str, groups: Sequence[str], rows: Sequence[ResultRow], published: Published) -> list[str]:
    """The MRR of several query groups side by side, with published ones in parentheses."""
    groups = [group for group in groups if any(row.values(group, "mrr") for row in rows)]
    known = {group: published.on(dataset, group) for group in groups}
    body = []
    for row in rows:
        cells = []
        for group in groups:
            result = known[group].get(row.system)
            cells.append(row.formatted(group, "mrr") + (f" ({result.mrr:.3f})" if result else ""))
        body.append([_name(row), *cells, row.links()])
    return _markdown(["recipe", *groups, "files"], body)


def overview_table(rows: Sequence[ResultRow]) -> list[str]:
    """All systems on a few datasets with size and training time, best first; empty without results on those."""
    rows = [row for row in rows if row.values("entity", "mrr") and not is_ablation(row.stem)]
    datasets = [dataset for dataset in _OVERVIEW_DATASETS if any(row.dataset == dataset for row in rows)]
    if not datasets:
        return []
    systems: dict[str, list[list[ResultRow]]] = {}
    for system in {row.system for row in rows if row.dataset in datasets}:
        same = [row for row in rows if row.system == system]
        systems[system] = [[row for row in same if row.dataset == dataset] for dataset in datasets]
    order = sorted(systems, key=lambda system: (*(-_best_mrr(cell) for cell in systems[system]), system))
    body = [[system, *map(_overview_cell, systems[system])] for system in order]
    return [_OVERVIEW_LEGEND, "", *_markdown(["system", *datasets], body), ""]


def settings_tables(trials: Sequence[ResultRow]) -> list[str]:
    """For each recipe tuned one setting at a time, a table of the changes, best first."""
    lines = []
    for base in trials:
        if base.stem.endswith(f"-{TRIAL_LABEL}"):
            same = (row for row in trials if (row.dataset, row.model) == (base.dataset, base.model))
            rows = [row for row in same if f"-{TRIAL_LABEL}" in row.stem]
            rows.sort(key=lambda row: -row.mean("entity", "mrr"))
            epochs = base.records[0]["recipe"]["training"]["epochs"]
            table = _markdown(
                ["changed", *_METRICS, "difference", "seconds", "files"], [_trial_cells(row, base) for row in rows]
            )
            lines += [f"### {base.dataset}, {base.model}, {epochs} epochs", "", *table, ""]
    return [_SETTINGS_LEGEND, "", *lines] if lines else []


def blends_table(rows: Sequence[ResultRow]) -> list[str]:
    """Each blend with its parts: what they are worth and what they cost; empty without blends."""
    body = []
    for row in rows:
        for record in row.records:
            if parts := record.get("parts"):
                figures = (row.formatted(group, "mrr") for group in _BLEND_GROUPS)
                body.append([_name(row), "", *figures, _seconds(row)])
                body += [["", part["name"], *_part_cells(part)] for part in parts]
    if not body:
        return []
    titles = ["recipe", "part", *(f"MRR {group}" for group in _BLEND_GROUPS), "seconds"]
    return [_BLENDS_LEGEND, "", *_markdown(titles, body), ""]


def _part_cells(part: Mapping[str, Any]) -> list[str]:
    """The metrics and the training time of a part of a blend."""
    figures = [_decimals(part["mrr"][group]) if group in part["mrr"] else "" for group in _BLEND_GROUPS]
    return [*figures, "" if part["seconds"] is None else f"{part['seconds']:,.0f}"]


def given_table(rows: Sequence[ResultRow]) -> list[str]:
    """MRR by number of qualifiers given, for the rows that were ranked that way."""
    points = [f"{group}[given={level}]" for group in _GIVEN_GROUPS for level in LEVELS]
    curves = [row for row in rows if row.values(points[0], "mrr")]
    cells = [[_name(row), *(row.formatted(point, "mrr") for point in points), row.links()] for row in curves]
    titles = [f"{group}, {level}" for group in _GIVEN_GROUPS for level in LEVELS]
    return [_GIVEN_LEGEND, "", *_markdown(["recipe", *titles, "files"], cells), ""] if cells else []


def _markdown(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return Table(left(*titles), rows).markdown().split("\n")


def _recorded_cells(
    group: str, row: ResultRow, published: Mapping[str, PublishedResult], notes: Footnotes
) -> list[str]:
    result = published.get(row.system)
    difference = _difference(group, row, published)
    return [
        _name(row),
        *(row.formatted(group, metric) for metric in PUBLISHED_METRICS),
        *([_decimals(value) for value in result.values] if result else [""] * len(PUBLISHED_METRICS)),
        result.source if result else "",
        "" if difference is None else _signed(difference),
        str(len(row.records)),
        notes.letter(row.protocol),
        _seconds(row),
        row.links(),
    ]


def _published_cells(system: str, result: PublishedResult) -> list[str]:
    metrics = [_decimals(value) for value in result.values]
    return [f"*{system}*", *["–"] * len(PUBLISHED_METRICS), *metrics, result.source, *[""] * 5]


def _trial_cells(row: ResultRow, base: ResultRow) -> list[str]:
    difference = round(row.mean("entity", "mrr"), 3) - round(base.mean("entity", "mrr"), 3)
    return [
        ", ".join(_changes(row, base)) or "**nothing**",
        *(row.formatted("entity", metric) for metric in PUBLISHED_METRICS),
        "" if row is base else _signed(difference),
        _seconds(row),
        row.links(),
    ]


def _changes(row: ResultRow, base: ResultRow) -> list[str]:
    """The settings in which ``row`` differs from ``base``, whatever its file is called."""
    changed, original = (recorded_settings(one.records[0]) or one.records[0]["recipe"] for one in (row, base))
    return [
        f"`{key} = {value}`"
        for table, settings in changed.items()
        if table not in ("data", "evaluation")
        for key, value in settings.items()
        if key != "seed" and value != original.get(table, {}).get(key)
    ]


def _best_mrr(rows: Sequence[ResultRow]) -> float:
    return max((row.mean("entity", "mrr") for row in rows), default=0.0)


def _overview_cell(rows: Sequence[ResultRow]) -> str:
    return "<br>".join(_summary(row) + (f", `{row.name}`" if len(rows) > 1 else "") for row in rows)


def _summary(row: ResultRow) -> str:
    mrr, hits_1, hits_10 = (row.mean("entity", metric) for metric in PUBLISHED_METRICS)
    parts = [f"**{mrr:.3f}** ({hits_1:.3f}, {hits_10:.3f})"]
    if parameters := row.records[0].get("parameters"):
        parts.append(f"{parameters / 1e6:.1f} M")
    if row.seconds is not None:
        parts.append(f"{row.seconds:,.0f} s")
    return ", ".join(parts)


def _difference(group: str, row: ResultRow, published: Mapping[str, PublishedResult]) -> float | None:
    """The difference to the published MRR, both rounded as shown."""
    result = published.get(row.system)
    return None if result is None else round(round(row.mean(group, "mrr"), 3) - result.mrr, 3)


def _signed(difference: float) -> str:
    return f"{difference:+.3f}".replace("-", "−")


def _decimals(value: float) -> str:
    return "–" if isnan(value) else f"{value:.3f}"


def _seconds(row: ResultRow) -> str:
    return "" if row.seconds is None else f"{row.seconds:,.0f}"


def _name(row: ResultRow) -> str:
    return f"`{row.name}`" + (" †" if row.outdated else "")


def _letter(number: int) -> str:
    return chr(ord("A") + number)
