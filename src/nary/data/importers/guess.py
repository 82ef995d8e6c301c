"""Guessing the mapping of a property graph from the names and values of its columns."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from nary.data.importers.mapping import EdgeMapping, GraphMapping, NodeMapping, check_types
from nary.data.importers.tables import Table
from nary.data.importers.values import VALUE_TYPES, as_text, guess_type, literal_values, without_missing
from nary.data.io.sanity import END_WORDS, START_WORDS
from nary.errors import SettingError, did_you_mean

_ID_WORDS = ("id", "nodeid", "key", "uuid", "ids")
_TYPE_WORDS = ("type", "relation", "relationship", "rel", "reltype", "relationtype", "predicate", "property", "label")
_EDGE_ID_WORDS = ("id", "edgeid", "relid", "relationid", "relationshipid", "uuid", "key")
_NAME_WORDS = ("name", "title", "displayname", "fullname", "caption")
_CLASS_WORDS = ("labels", "type", "types", "class", "category", "kind")
_FEW_TYPES = 50
_SAMPLE = 10_000
_STRAYS = 0.1  # of the distinct values of a column, which may be mistakes


@dataclass(frozen=True)
class Choices:
    """What the user says about columns; empty where it is to be guessed."""

    start: str = ""
    end: str = ""
    type: str = ""
    relation: str = ""
    node_id: str = ""
    node_name: str = ""
    node_type: str = ""
    value_types: Mapping[str, str] = field(default_factory=dict)
    ignored: Collection[str] = ()
    node_facts: bool = False


def is_edge_table(table: Table, choices: Choices) -> bool:
    """Whether a table has columns for the two ends of an edge."""
    return all(_end_columns(table, choices))


def is_node_table(table: Table, edges: Sequence[Table], choices: Choices) -> bool:
    """Whether a table has a column of ids, and ``edges`` end at some of them, unless properties are facts, too."""
    id = _node_id(table, choices)
    if not id or choices.node_facts:
        return bool(id)
    ids = _texts(table, id)
    return any(
        bool(_texts(each, column).is_in(ids.implode()).any())
        for each in edges
        for column in _end_columns(each, choices)
    )


def _texts(table: Table, column: str) -> pl.Series:
    """The values of a column of ids or ends, as text."""
    values = table.frame[column]
    texts, type = as_text(values.explode() if isinstance(values.dtype, pl.List) else values)
    return literal_values(texts, "number") if type == "number" else texts


def guess_mapping(edges: Sequence[Table], nodes: Sequence[Table], choices: Choices) -> GraphMapping:
    """Guess what every column is for, except where ``choices`` tell."""
    columns = {column for table in (*edges, *nodes) for column in table.frame.columns}
    _check_choices(choices, columns)
    node_mappings = [_guess_nodes(table, choices, len(nodes) > 1) for table in nodes]
    return GraphMapping([_guess_edges(table, choices) for table in edges], node_mappings)


def stray_values(tables: Mapping[str, Table], mapping: GraphMapping, choices: Choices) -> list[str]:
    """Notes on columns that were guessed to hold names, because a few of their values are no numbers or dates."""
    notes = []
    for edges in mapping.edges:
        table = tables[edges.file]
        told = {*choices.value_types, *table.types}
        names = [column for column, type in edges.qualifiers.items() if type == "entity" and column not in told]
        for column in names if table.is_text else ():
            values = without_missing(table.frame[column]).drop_nulls().unique(maintain_order=True)
            for type in ("number", "date", "datetime"):
                strays = values.filter(literal_values(values, type).is_null())
                if 0 < len(strays) <= _STRAYS * len(values):
                    notes.append(
                        f"all values of {column!r} in {Path(table.name).name} are read as names, because {strays[0]!r} "
                        f"is not a {type}; to read them as {type}s, correct it and the like"
                    )
                    break
    return notes


def _check_choices(choices: Choices, columns: Collection[str]) -> None:
    named = [choices.start, choices.end, choices.type, choices.node_id, choices.node_name, choices.node_type]
    for column in (*named, *choices.value_types, *choices.ignored):
        if column and column not in columns:
            raise SettingError(f"no column is called {column!r}", did_you_mean(column, sorted(columns)))
    check_types(choices.value_types, VALUE_TYPES)
    if choices.type and choices.relation:
        raise SettingError(
            f"the relation of edges is given twice: by the column {choices.type!r}, and as {choices.relation!r}",
            "Give a type or a relation.",
        )
    for roles in ((choices.start, choices.end, choices.type), (choices.node_id, choices.node_name, choices.node_type)):
        chosen = [column for column in roles if column]
        if twice := next((column for column in chosen if chosen.count(column) > 1), None):
            raise SettingError(f"the column {twice!r} is chosen twice", "Each part of an edge or node has its own.")
        if ignored := next((column for column in chosen if column in choices.ignored), None):
            raise SettingError(f"the column {ignored!r} is chosen and ignored", "Choose one of both.")


def _guess_edges(table: Table, choices: Choices) -> EdgeMapping:
    columns = table.frame.columns
    start, end = _end_columns(table, choices)
    if not start or not end:
        raise table.error(
            "cannot tell which columns are the ends of an edge: " + ", ".join(columns[:12]),
            "Name them: --start COLUMN --end COLUMN. If these are nodes, give the file with --nodes.",
        )
    rest = [column for column in columns if column not in (start, end)]
    type = "" if choices.relation else choices.type or _first(rest, _TYPE_WORDS)
    type = type if type in rest else ""
    rest = [column for column in rest if column != type]
    id = next((c for c in rest if _word(c) in _EDGE_ID_WORDS and not table.frame[c].is_duplicated().any()), "")
    used = [column for column in rest if column != id]
    return EdgeMapping(
        table.name,
        start,
        end,
        type,
        "" if type else choices.relation or table.stem,
        id,
        {column: value_type for column in used if (value_type := _value_type(table, column, choices))},
    )


def _end_columns(table: Table, choices: Choices) -> tuple[str, str]:
    columns = table.frame.columns
    start = choices.start if choices.start in columns else _first(columns, START_WORDS)
    end = choices.end if choices.end in columns else _first(columns, END_WORDS)
    return start, end


def _guess_nodes(table: Table, choices: Choices, several: bool) -> NodeMapping:
    columns = table.frame.columns
    id = _node_id(table, choices)
    if not id:
        raise table.error(
            "cannot tell which column is the id of a node: " + ", ".join(columns[:12]), "Name it: --node-id COLUMN"
        )
    rest = [column for column in columns if column != id]
    types = choices.node_type if choices.node_type in rest else _first(rest, (":label", *_CLASS_WORDS))
    name = choices.node_name if choices.node_name in rest else _first(rest, _NAME_WORDS)
    label = _first([column for column in rest if column != types], ("label",))
    if label and not types and (name or table.frame[label].n_unique() <= min(_FEW_TYPES, table.frame.height / 2)):
        types = label
    elif label and not name and label != types:
        name = label
    others = [column for column in rest if column not in (types, name)]
    facts = {c: t for c in others if (t := _value_type(table, c, choices))} if choices.node_facts else {}
    return NodeMapping(table.name, id, name, types, "" if types or not several else table.stem, facts)


def _node_id(table: Table, choices: Choices) -> str:
    """Return the column of the ids of nodes; empty if none can be told."""
    columns = table.frame.columns
    return choices.node_id if choices.node_id in columns else _first(columns, _ID_WORDS) or _unique_id(table)


def _unique_id(table: Table) -> str:
    """Return the first column called something like an id whose values are unique."""
    candidates = [column for column in table.frame.columns if re.search(r"(?i)id$", column)]
    return next((column for column in candidates if not table.frame[column].is_duplicated().any()), "")


def _value_type(table: Table, column: str, choices: Choices) -> str:
    """Return the type of the values of a column; empty if the column is not used."""
    if column in choices.ignored or column.startswith(":IGNORE"):
        return ""
    if chosen := choices.value_types.get(column) or table.types.get(column):
        return chosen
    values: Any = table.frame[column]
    if isinstance(values.dtype, pl.List):
        values = values.explode()
    if values.dtype.is_nested() or values.dtype == pl.Null or not len(values.drop_nulls()):
        return ""
    if not table.is_text:
        return as_text(values.head(1))[1]
    sample = without_missing(values.head(_SAMPLE))
    guessed = guess_type(sample, column)
    return guessed if guessed == "entity" or len(values) <= _SAMPLE else guess_type(without_missing(values), column)


def _first(columns: Sequence[str], words: Sequence[str]) -> str:
    """Return the column that is called by the first of ``words`` that one is called by."""
    by_word = {_word(column): column for column in reversed(columns)}
    forms = (":{}", ":{}id", "{}", "{}id", "{}node")
    candidates = (by_word.get(form.format(word)) for word in words for form in forms)
    return next((column for column in candidates if column), "")


def _word(column: str) -> str:
    """Return the name of a column in lower case, without separators or the group of Neo4j's ids."""
    return re.sub(r"[ _-]|\(.*\)$", "", column.lower())
