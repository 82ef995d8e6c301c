"""What ``nary import`` does with each kind of source, and what it prints."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nary.apps.cli.options import OnError
from nary.apps.cli.output import notice, print_json, print_table, say
from nary.errors import SettingError
from nary.progress import progress_bar

if TYPE_CHECKING:
    from nary.data.dataset import Dataset
    from nary.data.importers.guess import Choices
    from nary.data.importers.wikidata.settings import WikidataSettings


def import_property_graph(
    sources: Sequence[Path],
    nodes: Sequence[Path],
    choices: "Choices",
    mapping: Path | None,
    out: Path | None,
    to: str | None,
    as_json: bool,
) -> None:
    """Import tables of edges and nodes; without ``out``, only show the mapping."""
    from nary.data.importers.graph import GraphImport, write_imported
    from nary.data.importers.guess import Choices
    from nary.data.io.writer import check_output

    if out is not None:
        check_output(out, to)
    if mapping is not None and choices != Choices():
        raise SettingError("--mapping says what every column is", "Leave the other options out, or edit the file.")
    with progress_bar("Reading", show=not as_json) as progress:
        graph = GraphImport.open(sources, nodes, choices, mapping, progress)
    rows = [list(row) for row in graph.rows()]
    if not as_json:
        print_table("Mapping", ["table", "column", "becomes"], rows)
        say()
    if out is None:
        if as_json:
            print_json({"mapping": rows, "notes": list(graph.notes)})
        for note in () if as_json else graph.notes:
            notice(note)
        return
    with progress_bar("Importing", show=not as_json) as progress:
        dataset = graph.dataset(progress)
    _print_notes(dataset)
    with progress_bar("Writing", show=not as_json) as progress:
        write_imported(dataset, out, graph.mapping, to, progress)
    numbers = _numbers(dataset)
    if as_json:
        print_json({**numbers, "notes": list(dataset.notes), "mapping": rows, "out": str(out)})
    else:
        print_table(str(out), ["", "number"], numbers.items())


def import_wikidata(
    sources: Sequence[Path],
    settings: "WikidataSettings",
    out: Path,
    to: str | None,
    on_error: OnError,
    as_json: bool,
) -> None:
    """Import a dump of Wikidata."""
    from nary.data.importers.wikidata.importing import import_wikidata

    if len(sources) > 1:
        raise SettingError(f"{len(sources)} dumps", "Give one: a dump is a single file.")
    with progress_bar("Importing", show=not as_json) as progress:
        report = import_wikidata(
            sources[0], out, settings, format=to or "jsonl", on_error=on_error.value, progress=progress
        )
    if report.resumed_after:
        notice(f"continued after line {report.resumed_after:,}, where an earlier import was interrupted")
    if as_json:
        print_json({**report.as_dict(), "out": str(out)})
        return
    print_table(str(out), ["", "number"], report.counts.items())
    if report.left_out:
        print_table("\nLeft out", ["", "number"], report.left_out.items())


def import_rdf(
    sources: Sequence[Path],
    prefixes: Mapping[str, str],
    languages: Sequence[str] | None,
    rdf_star: bool,
    without_qualifiers: bool,
    out: Path,
    to: str | None,
    as_json: bool,
) -> None:
    """Import files of RDF."""
    from nary.data.io.writer import check_output
    from nary.data.rdf.reading import read_rdf

    check_output(out, to)
    with progress_bar("Reading", show=not as_json) as progress:
        dataset = read_rdf(
            sources,
            prefixes=prefixes,
            languages=languages or ("en",),
            rdf_star=rdf_star,
            without_qualifiers=without_qualifiers,
            progress=progress,
        )
    _write(dataset, out, to, as_json)


def import_kgtk(
    sources: Sequence[Path], languages: Sequence[str] | None, out: Path, to: str | None, as_json: bool
) -> None:
    """Import edges of KGTK."""
    from nary.data.importers.kgtk import read_kgtk
    from nary.data.io.writer import check_output

    check_output(out, to)
    with progress_bar("Reading", show=not as_json) as progress:
        dataset = read_kgtk(sources, languages or ("en",), progress)
    _write(dataset, out, to, as_json)


def _write(dataset: "Dataset", out: Path, to: str | None, as_json: bool) -> None:
    """Write what was read, and print its notes and numbers."""
    from nary.data.io.writer import write

    _print_notes(dataset)
    with progress_bar("Writing", show=not as_json) as progress:
        write(dataset, out, format=to, progress=progress)
    numbers = _numbers(dataset)
    if as_json:
        print_json({**numbers, "notes": list(dataset.notes), "out": str(out)})
    else:
        print_table(str(out), ["", "number"], numbers.items())


def _print_notes(dataset: "Dataset") -> None:
    for note in dataset.notes:
        notice(note)


def _numbers(dataset: "Dataset") -> dict[str, int]:
    from nary.data.statistics import counts
    from nary.facts.literal import is_literal

    counted = counts(dataset)
    literals = sum(map(is_literal, dataset.vocabulary.entities))
    return {
        "facts": len(dataset.train),
        "entities": counted["entities"] - literals,
        "literals": literals,
        "relations": counted["relations"],
        "labels": len(dataset.vocabulary.labels),
    }
