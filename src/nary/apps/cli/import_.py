"""``nary import``: a property graph, a Wikidata dump, RDF or KGTK as facts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from nary.apps.cli.importing import import_kgtk, import_property_graph, import_rdf, import_wikidata
from nary.apps.cli.options import Json, OnError
from nary.errors import OutputError, SettingError, did_you_mean

_GRAPH, _WIKIDATA, _RDF, _KGTK = "Property graphs", "Wikidata", "RDF", "KGTK"
_PANELS = {"property-graph": _GRAPH, "wikidata": _WIKIDATA, "rdf": _RDF, "kgtk": _KGTK}
_KINDS = {panel: kind for kind, panel in _PANELS.items()}
_COLUMN = {"metavar": "COLUMN", "show_default": False, "rich_help_panel": _GRAPH}


def import_(
    context: typer.Context,
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE...",
            show_default=False,
            help="Tables of edges (.csv, .tsv, .parquet), a .graphml file, a folder exported from Neo4j or by APOC, "
            "a Wikidata JSON dump, RDF (.ttl, .trig, .nt, .nq), or KGTK (.tsv); plain, or compressed as .gz, .bz2 or "
            ".zst.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DATA", show_default=False, help="A new folder for the facts and the mapping."),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="NAME",
            show_default=False,
            help="property-graph, wikidata, rdf or kgtk, if it cannot be detected.",
        ),
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="NAME", help="The format to write: jsonl or parquet.")
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option(
            "--language",
            metavar="CODE",
            show_default=False,
            help="The language of labels in Wikidata, RDF or KGTK; if repeated, the first one with a label. English by "
            "default.",
        ),
    ] = None,
    without_qualifiers: Annotated[
        bool,
        typer.Option(
            "--without-qualifiers", help="Import the triples of a truthy Wikidata dump, which has no qualifiers."
        ),
    ] = False,
    as_json: Json = False,
    nodes: Annotated[
        list[Path] | None,
        typer.Option("--nodes", metavar="FILE", show_default=False, rich_help_panel=_GRAPH, help="A table of nodes."),
    ] = None,
    start: Annotated[str, typer.Option("--start", **_COLUMN, help="The start of an edge: the subject.")] = "",
    end: Annotated[str, typer.Option("--end", **_COLUMN, help="The end of an edge: the object.")] = "",
    type: Annotated[str, typer.Option("--type", **_COLUMN, help="The type of an edge: the relation.")] = "",
    relation: Annotated[
        str, typer.Option("--relation", **{**_COLUMN, "metavar": "NAME"}, help="The relation of all edges instead.")
    ] = "",
    node_id: Annotated[str, typer.Option("--node-id", **_COLUMN, help="The id of a node.")] = "",
    node_name: Annotated[str, typer.Option("--node-name", **_COLUMN, help="The name of a node: its label.")] = "",
    node_type: Annotated[str, typer.Option("--node-type", **_COLUMN, help="The types (labels) of a node.")] = "",
    number: Annotated[list[str] | None, typer.Option("--number", **_COLUMN, help="Its values are numbers.")] = None,
    date: Annotated[list[str] | None, typer.Option("--date", **_COLUMN, help="Its values are dates.")] = None,
    time: Annotated[list[str] | None, typer.Option("--time", **_COLUMN, help="Its values are times of day.")] = None,
    datetime: Annotated[
        list[str] | None, typer.Option("--datetime", **_COLUMN, help="Its values are dates with times.")
    ] = None,
    entity: Annotated[list[str] | None, typer.Option("--entity", **_COLUMN, help="Its values are entities.")] = None,
    ignore: Annotated[list[str] | None, typer.Option("--ignore", **_COLUMN, help="Leave the column out.")] = None,
    node_facts: Annotated[
        bool,
        typer.Option(
            "--node-facts", rich_help_panel=_GRAPH, help="Also make a fact of every other property of a node."
        ),
    ] = False,
    mapping: Annotated[
        Path | None,
        typer.Option(
            "--mapping",
            metavar="FILE",
            rich_help_panel=_GRAPH,
            help="Use the mapping in this file, such as DATA/mapping.toml.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", rich_help_panel=_GRAPH, help="Show the mapping and write nothing.")
    ] = False,
    property: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="P", rich_help_panel=_WIKIDATA, help="Only statements with this property."),
    ] = None,
    instances_of: Annotated[
        list[str] | None,
        typer.Option(
            "--class", metavar="Q", rich_help_panel=_WIKIDATA, help="Only direct instances (P31) of this class."
        ),
    ] = None,
    ids: Annotated[
        Path | None,
        typer.Option(
            "--ids", metavar="FILE", rich_help_panel=_WIKIDATA, help="Only the entities in this file, one id per line."
        ),
    ] = None,
    best_rank: Annotated[
        bool,
        typer.Option(
            "--best-rank",
            rich_help_panel=_WIKIDATA,
            help="Leave out statements of normal rank if there are preferred ones.",
        ),
    ] = False,
    datatype: Annotated[
        list[str] | None,
        typer.Option(
            "--datatype",
            metavar="NAME",
            rich_help_panel=_WIKIDATA,
            help="Also keep values of this datatype: external-id, url, commonsMedia, math, ...",
        ),
    ] = None,
    keep_missing: Annotated[
        bool,
        typer.Option(
            "--keep-missing",
            rich_help_panel=_WIKIDATA,
            help="Keep unknown values and no values, as somevalue and novalue.",
        ),
    ] = False,
    on_error: Annotated[
        OnError,
        typer.Option("--on-error", rich_help_panel=_WIKIDATA, help="At a broken line: stop, or skip and count it."),
    ] = OnError.stop,
    prefix: Annotated[
        list[str] | None,
        typer.Option("--prefix", metavar="NAME=IRI", rich_help_panel=_RDF, help="Shorten IRIs by this prefix, too."),
    ] = None,
    rdf_star: Annotated[
        bool,
        typer.Option("--rdf-star", rich_help_panel=_RDF, help="Make one fact of all annotations of a triple."),
    ] = False,
) -> None:
    """Import a property graph, a Wikidata dump, RDF or KGTK. Ids stay ids, names become labels, classes become types.

    Every edge of a property graph becomes a fact, with its other columns as qualifiers; the mapping of columns is
    guessed and shown first. Wikidata statements keep their qualifiers; run the same command again to continue an
    interrupted import. Annotated or reified RDF statements, and KGTK edges with edges about them, become facts with
    qualifiers.

    Example: nary import edges.csv --nodes nodes.csv --out my-graph

    Example: nary import latest-all.json.gz --class Q5 --property P166 --property P108 --out people

    Example: nary import graph.ttl --out my-graph
    """
    from nary.data.importers.guess import Choices
    from nary.data.importers.kinds import guess_kind
    from nary.data.importers.wikidata.settings import WikidataSettings, read_ids

    if kind is not None and kind not in _PANELS:
        raise SettingError(f"unknown kind of source {kind!r}", did_you_mean(kind, _PANELS))
    if out is not None and out.suffix:
        raise OutputError(
            f"{out} looks like a file", "Give a folder: it gets the facts, labels, types and the mapping."
        )
    kind = kind or guess_kind(sources)
    _check_options(context, kind)
    if kind == "property-graph":
        types = {"number": number, "date": date, "time": time, "datetime": datetime, "entity": entity}
        value_types = _value_types({name: columns or () for name, columns in types.items()})
        choices = Choices(
            start, end, type, relation, node_id, node_name, node_type, value_types, ignore or (), node_facts
        )
        import_property_graph(sources, nodes or (), choices, mapping, None if dry_run else _target(out), to, as_json)
    elif kind == "wikidata":
        settings = WikidataSettings(
            property or (),
            instances_of or (),
            read_ids(ids) if ids else (),
            language or WikidataSettings.languages,
            best_rank,
            datatype or (),
            keep_missing,
            without_qualifiers,
        )
        import_wikidata(sources, settings, _target(out), to, on_error, as_json)
    elif kind == "kgtk":
        import_kgtk(sources, language, _target(out), to, as_json)
    else:
        import_rdf(sources, _prefixes(prefix or ()), language, rdf_star, without_qualifiers, _target(out), to, as_json)


def _value_types(columns: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the type of each column in ``columns``, which are by type."""
    types: dict[str, str] = {}
    for name, each in columns.items():
        for column in each:
            if types.setdefault(column, name) != name:
                raise SettingError(f"--{types[column]} {column} and --{name} {column}", "A column has one type.")
    return types


def _target(out: Path | None) -> Path:
    if out is None:
        raise SettingError("--out is missing", "Give --out DATA. To see a mapping of columns only: --dry-run")
    return out


def _check_options(context: typer.Context, kind: str) -> None:
    """Refuse options for other kinds of sources."""
    for parameter in context.command.params:
        panel = getattr(parameter, "rich_help_panel", None)
        source = context.get_parameter_source(parameter.name or "")
        if panel in _PANELS.values() and panel != _PANELS[kind] and source is not None and source.name == "COMMANDLINE":
            raise SettingError(
                f"{parameter.opts[0]} is not for this source, which is imported as {kind}",
                f"Leave it out, or name the kind of the source: --from {_KINDS[str(panel)]}",
            )


def _prefixes(texts: Sequence[str]) -> dict[str, str]:
    prefixes = {}
    for text in texts:
        key, equals, iri = text.partition("=")
        if not equals or ":" not in iri:
            raise SettingError(f"cannot read --prefix {text}", "Write it like ex=http://example.org/")
        prefixes[key.removesuffix(":")] = iri
    return prefixes
