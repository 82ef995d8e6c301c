"""Which kind of graph some files are: a property graph, a dump of Wikidata, or RDF."""

from collections.abc import Sequence
from pathlib import Path

from nary.data.files import Source, extension, is_folder
from nary.data.importers.wikidata.dump import is_dump
from nary.data.rdf import is_rdf


def guess_kind(paths: Sequence[Path]) -> str:
    """Guess from the extension, and for JSON from the first bytes: property-graph, wikidata or rdf."""
    if all(map(is_rdf, paths)):
        return "rdf"
    if len(paths) == 1 and not is_folder(paths[0]) and extension(paths[0]).lower() in (".json", ".jsonl", ".ndjson"):
        with Source(paths[0]) as source:
            return "wikidata" if is_dump(source.head) else "property-graph"
    return "property-graph"
