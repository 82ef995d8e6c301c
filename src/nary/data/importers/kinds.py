"""Which kind of graph some files are: a property graph, a dump of Wikidata, RDF, or KGTK."""

from collections.abc import Sequence
from pathlib import Path

from nary.data.files import Source, extension, is_folder
from nary.data.importers.kgtk import is_kgtk
from nary.data.importers.wikidata.dump import is_dump
from nary.data.rdf import is_rdf
from nary.errors import DataError


def guess_kind(paths: Sequence[Path]) -> str:
    """Guess from the extension, for JSON from the first bytes, for tables from the header of the first one."""
    rdf = [path for path in paths if is_rdf(path)]
    if rdf:
        other = next((path for path in paths if path not in rdf), None)
        if other is not None:
            raise DataError(f"is RDF, but {other} is not", "Import each kind of source by itself.", str(rdf[0]))
        return "rdf"
    if not is_folder(paths[0]) and extension(paths[0]).lower() in (".json", ".jsonl", ".ndjson"):
        with Source(paths[0]) as source:
            return "wikidata" if is_dump(source.head) else "property-graph"
    if not is_folder(paths[0]) and extension(paths[0]).lower() == ".tsv" and is_kgtk(paths[0]):
        return "kgtk"
    return "property-graph"
