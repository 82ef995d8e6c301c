"""The page of results, made from recorded results and the published figures."""

from collections.abc import Sequence
from pathlib import Path

from nary.apps.results.overview import overview
from nary.apps.results.own import Own, read_own
from nary.apps.results.picture import datasets_drawn
from nary.apps.results.published import Published, read_published
from nary.apps.results.settings import one_at_a_time
from nary.apps.results.tables import Notes, breakdown, comparison
from nary.runs.tables import TABLES, Table, is_ablation

PICTURE = Path("images") / "results.svg"
"""Beside the page."""
_HEADER = """# Results

Every figure of ours on this page was measured by a command of this repository and stands in a file under `results/`;
the page is made from those files by `nary results results --out docs/results.md`. A row is named after its recipe:
`nary reproduce NAME` makes it again, `nary reproduce TABLE` a whole table ([Reproducing](reproducing.md)). Ours are
means over seeds, with the standard deviation where there are several; published figures are quoted from the sources
below, and systems in italics have no result of ours yet. A row with † was made with other settings than its recipe has
now; they are in its files. Figures for entities count every entity of a fact, those for subject/object these two alone,
and a system that answers for these two only stands nowhere else.
"""


def results_page(folder: Path, page: Path | None = None) -> str:
    """The whole page in Markdown, to stand at ``page``, or beside the folder."""
    own, published = read_own(folder, page=page), read_published(folder)
    notes = Notes(dict(published.notes))
    lines = [_HEADER]
    for table in TABLES:
        broken_down = table.name == "breakdown"
        parts = _breakdowns(table, own, published) if broken_down else _parts(table, own, published, notes)
        none = [f"None recorded yet; `nary reproduce {table.name}` makes them.", ""]
        lines += [f"## {table.title}", "", *(parts or none)]
    changed = one_at_a_time(read_own(folder, "valid", page))
    if changed:
        lines += ["## One setting at a time", "", *changed]
    systems = overview(own)
    if systems:
        lines += ["## All systems", "", *systems]
    if datasets_drawn(own):
        lines += [
            "## Quality and time",
            "",
            f"![MRR of entities against minutes of training]({PICTURE.as_posix()})",
            "",
        ]
    lines += ["## Protocols", "", *notes.legend(), "", "## Machines", "", *_machines(own), ""]
    lines += ["## Sources", "", *(f"- {name}: {text}." for name, text in published.sources.items()), ""]
    return "\n".join(lines)


def _parts(table: Table, own: Sequence[Own], published: Published, notes: Notes) -> list[str]:
    """One part for each dataset and group that has a result of ours.

    A group shows the rows that were asked all its questions. The second group wants published figures, too, or rows on
    triples, which have no entities but subjects and objects.
    """
    lines = []
    for dataset in _datasets(table, own):
        rows = [row for row in own if row.dataset == dataset]
        taken_apart = tuple({row.model for row in rows if is_ablation(row.system)})
        for group in table.groups:
            asked = [row for row in rows if _belongs(table, row.system, taken_apart) and row.values(group, "mrr")]
            on_triples = any(row.system.endswith("-triples") for row in asked)
            most = max((row.questions(group) for row in asked), default=0)  # others answer for a part of the entities
            asked = [row for row in asked if row.questions(group) == most]
            theirs = published.on(dataset, group)
            theirs = {system: theirs[system] for system in theirs if _belongs(table, system, taken_apart)}
            if asked and (theirs or on_triples or group == table.groups[0]):
                lines += [f"### {dataset}, {group}", "", *comparison(group, asked, theirs, notes), ""]
    return lines


def _belongs(table: Table, system: str, taken_apart: tuple[str, ...]) -> bool:
    """Ablations have a table of their own, in which they stand beside the whole systems."""
    return system.startswith(taken_apart) if table.ablations else not is_ablation(system)


def _breakdowns(table: Table, own: Sequence[Own], published: Published) -> list[str]:
    """One part for each dataset."""
    lines = []
    for dataset in dict.fromkeys(row.dataset for row in own):
        rows = [row for row in own if row.dataset == dataset]
        lines += [f"### {dataset}, MRR", "", *breakdown(dataset, table.groups, rows, published), ""]
    return lines


def _datasets(table: Table, own: Sequence[Own]) -> list[str]:
    found = list(dict.fromkeys(row.dataset for row in own if table.has(row.dataset)))
    return sorted(found, key=table.datasets.index) if table.datasets else found


def _machines(own: Sequence[Own]) -> list[str]:
    found = {str(result.get("hardware")) for row in own for result in row.results}
    return [f"- {hardware}" for hardware in sorted(found)]
