"""The results page: recorded results beside published ones, in Markdown."""

from collections.abc import Sequence
from pathlib import Path

from nary.files.writing import atomic_path
from nary.reproduction.experiments import RESULT_TABLES, ResultTable, is_ablation
from nary.reproduction.figure import datasets_to_plot, plot_results
from nary.reproduction.page_tables import (
    Footnotes,
    blends_table,
    breakdown_table,
    given_table,
    overview_table,
    published_table,
    settings_tables,
)
from nary.reproduction.published import Published, read_published
from nary.reproduction.records import ResultRow, read_result_rows
from nary.reproduction.summary import summary_table

FIGURE = Path("images") / "results.svg"
"""Relative to the page."""
_TITLE = """# Results

MRR on the test split. *Ours* is the best of our results, with the time that its recipe took to train on one or two
cores of a CPU, and *ours in 30 minutes* the best of the recipes that need no longer than that. *entity* covers all
entities of a fact, *subject/object* only those of its main triple. With a star, train has all of valid but a small part
that was held out to choose the best epoch. Times were measured on shared machines: on a quiet one, training is up to
four times faster. Most published results took hours on a GPU.
"""
_HEADER = """## How to read the tables

Every result of ours on this page was measured with a command of this repository and is recorded in a file under
`results/`; `nary results results --out docs/results.md` generates the page from these files. Rows are named after their
recipes: `nary reproduce NAME` reproduces a row, `nary reproduce TABLE` a whole table ([Reproducing](reproducing.md)).
Our results are means over seeds, with the standard deviation if there are several seeds. Published results are quoted
from the sources below; systems in italics have no result of ours yet. A dagger (†) marks rows whose recipe has changed
since; the settings used are in the files. Metrics for *entity* cover all entities of a fact, those for *subject/object*
only the main triple; systems that predict nothing else are listed only there.
"""


def write_results_page(folder: Path, page: Path) -> None:
    """Write the page of the results in ``folder`` to ``page``, and its figure if there is anything to plot."""
    text = results_page(folder, page)
    rows = read_result_rows(folder)
    if datasets_to_plot(rows):
        plot_results(rows, page.parent / FIGURE)
    with atomic_path(page) as temporary:
        temporary.write_text(text, encoding="utf-8")


def results_page(folder: Path, page: Path | None = None) -> str:
    """The page as Markdown, with links relative to ``page``, or to a file beside the folder."""
    rows, published = read_result_rows(folder, page=page), read_published(folder)
    notes = Footnotes(published.notes)
    lines = [_TITLE]
    if summary := summary_table(rows, published):
        lines += [*summary, ""]
    lines += [_HEADER]
    for table in RESULT_TABLES:
        if table.name == "breakdown":
            sections = _breakdown_sections(table, rows, published)
        else:
            sections = _sections(table, rows, published, notes)
        none = [f"Nothing recorded yet. Run `nary reproduce {table.name}`.", ""]
        lines += [f"## {table.title}", "", *(sections or none)]
    if trials := settings_tables(read_result_rows(folder, "valid", page)):
        lines += ["## One setting at a time", "", *trials]
    if blends := blends_table(rows):
        lines += ["## Parts of blends", "", *blends]
    if given := given_table(rows):
        lines += ["## Partial context", "", *given]
    if overview := overview_table(rows):
        lines += ["## All systems", "", *overview]
    if datasets_to_plot(rows):
        title = "Test MRR vs. training time"
        lines += [f"## {title}", "", f"![{title}]({FIGURE.as_posix()})", ""]
    lines += ["## Protocols", "", *notes.legend(), "", "## Hardware", "", *_hardware(rows), ""]
    lines += ["## Sources", "", *(f"- {name}: {text}." for name, text in published.sources.items()), ""]
    return "\n".join(lines)


def _sections(table: ResultTable, rows: Sequence[ResultRow], published: Published, notes: Footnotes) -> list[str]:
    """One section for each dataset and query group that has a result of ours.

    Rows must cover all queries of the group. Groups after the first are shown only next to published results or
    triples-only rows, which have no entities other than subjects and objects.
    """
    lines = []
    for dataset in _datasets(table, rows):
        on_dataset = [row for row in rows if row.dataset == dataset]
        ablated = tuple({row.model for row in on_dataset if is_ablation(row.system)})
        candidates = [row for row in on_dataset if _belongs(table, row.system, ablated)]
        for group in table.groups:
            shown = [row for row in candidates if row.values(group, "mrr")]
            triples_only = any(row.system.endswith("-triples") for row in shown)
            most = max((row.query_count(group) for row in shown), default=0)
            shown = [row for row in shown if row.query_count(group) == most]
            results = published.on(dataset, group)
            results = {system: result for system, result in results.items() if _belongs(table, system, ablated)}
            if shown and (results or triples_only or group == table.groups[0]):
                lines += [f"### {dataset}, {group}", "", *published_table(group, shown, results, notes), ""]
    return lines


def _belongs(table: ResultTable, system: str, ablated: tuple[str, ...]) -> bool:
    """Ablations have a table of their own, in which they stand beside the full systems."""
    return system.startswith(ablated) if table.ablations else not is_ablation(system)


def _breakdown_sections(table: ResultTable, rows: Sequence[ResultRow], published: Published) -> list[str]:
    """One section for each dataset."""
    lines = []
    for dataset in dict.fromkeys(row.dataset for row in rows):
        on_dataset = [row for row in rows if row.dataset == dataset]
        lines += [f"### {dataset}, MRR", "", *breakdown_table(dataset, table.groups, on_dataset, published), ""]
    return lines


def _datasets(table: ResultTable, rows: Sequence[ResultRow]) -> list[str]:
    datasets = list(dict.fromkeys(row.dataset for row in rows if table.includes(row.dataset)))
    return sorted(datasets, key=table.datasets.index) if table.datasets else datasets


def _hardware(rows: Sequence[ResultRow]) -> list[str]:
    machines = {str(record.get("hardware")) for row in rows for record in row.records}
    return [f"- {machine}" for machine in sorted(machines)]
