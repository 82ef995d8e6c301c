"""Tables of nodes and edges, with a mapping, as a dataset."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from nary.data.dataset import Dataset
from nary.data.importers.mapping import EdgeMapping, GraphMapping, NodeMapping
from nary.data.importers.tables import Table
from nary.data.importers.values import as_text, literal_names, literal_values
from nary.data.io.base import FactColumns
from nary.data.io.encoder import Encoder
from nary.data.io.parquet import interleave
from nary.facts import Vocabulary
from nary.progress import Progress, no_progress
from nary.wording import counted

_ROWS = 1 << 18


def build_dataset(
    name: str, tables: Mapping[str, Table], mapping: GraphMapping, progress: Progress = no_progress
) -> Dataset:
    """Make a fact of every edge, and of the node properties that the mapping lists; ``tables`` are by name."""
    nodes = [_Nodes(tables[columns.file], columns) for columns in mapping.nodes]
    edges = [(tables[columns.file], columns) for columns in mapping.edges]
    _prefix_ambiguous_ids(nodes)
    facts = _Facts(sum(table.frame.height for table, _ in edges), progress)
    for each in nodes:
        each.check()
        for column, type in each.columns.facts.items():
            facts.add(each.table, each.ids, column, _names(each.table, column, type), {})
    notes: list[str] = []
    for table, columns in edges:
        start, end = (_end(table, column, nodes) for column in (columns.start, columns.end))
        notes += _unknown_ends(table, pl.concat([start, end]), nodes)
        qualifiers = {column: _names(table, column, type) for column, type in columns.qualifiers.items()}
        facts.add(table, start, columns, end, qualifiers)
    return facts.dataset(name, nodes, notes)


class _Facts:
    """Collects facts, a part of a table at a time."""

    def __init__(self, total: int, progress: Progress) -> None:
        self._encoder, self._rows = Encoder(), 0
        self._total, self._progress = total, progress

    def add(
        self,
        table: Table,
        start: pl.Series,
        relation: str | EdgeMapping,
        end: pl.Series,
        qualifiers: Mapping[str, pl.Series],
    ) -> None:
        """Add a fact for every row with an end; ``relation`` is its name, or tells the column that names it."""
        heads = pl.DataFrame({"relation": _relations(table, relation), "start": start, "end": end}).with_row_index(
            "row"
        )
        heads = heads.explode("end") if isinstance(end.dtype, pl.List) else heads
        heads = heads.filter(pl.col("end").is_not_null())
        for offset in range(0, heads.height, _ROWS):
            part = heads[offset : offset + _ROWS]
            self._encoder.add(_fact_columns(part, qualifiers), "train", self._rows)
            self._progress(min(self._rows + offset, self._total), self._total)
        self._rows += table.frame.height

    def dataset(self, name: str, nodes: Sequence["_Nodes"], notes: Sequence[str]) -> Dataset:
        """Return everything that was added, with labels and types of the nodes that occur."""
        vocabulary, splits = self._encoder.finish()
        labels: dict[str, str] = {}
        types: dict[str, tuple[str, ...]] = {}
        unused = 0
        for each in nodes:
            used = each.ids.is_in(pl.Series(vocabulary.entities).implode())
            unused += int((~used).sum())
            labels |= each.labels(used)
            types |= each.types(used)
        if unused:
            notes = [*notes, f"{counted(unused, 'node has no edge and is', 'nodes have no edge and are')} left out"]
        vocabulary = Vocabulary(vocabulary.entities, vocabulary.relations, labels, types)
        return Dataset(name, vocabulary, splits, tuple(notes))


def _fact_columns(heads: pl.DataFrame, qualifiers: Mapping[str, pl.Series]) -> FactColumns:
    """Return the facts of some rows, with their qualifiers; a missing value makes none."""
    first, last = int(heads["row"][0]), int(heads["row"][-1])
    pairs = [pl.DataFrame(schema={"row": pl.UInt32, "attribute": pl.String, "value": pl.String})]
    for attribute, values in qualifiers.items():
        part = pl.DataFrame({"value": values[first : last + 1]}).with_row_index("row", first)
        part = part.explode("value") if isinstance(values.dtype, pl.List) else part
        pairs.append(part.drop_nulls().select("row", attribute=pl.lit(attribute), value="value"))
    sorted_pairs = pl.concat(pairs).join(heads.select("row"), "row", how="semi").sort("row", maintain_order=True)
    counts = np.bincount(sorted_pairs["row"].to_numpy() - first, minlength=last - first + 1)
    names = [
        interleave(heads["relation"], heads["start"], heads["end"]),
        interleave(sorted_pairs["attribute"], sorted_pairs["value"]),
    ]
    rows = heads["row"].to_numpy().astype(np.int64)
    return FactColumns(rows, counts[rows - first], pl.concat(names))


class _Nodes:
    """A table of nodes."""

    def __init__(self, table: Table, columns: NodeMapping) -> None:
        self.table, self.columns = table, columns
        self.ids = _ids(table, columns.id)
        self.space = table.spaces.get(columns.id, "")

    def check(self) -> None:
        """Refuse an id that two rows have."""
        repeated = self.ids.is_duplicated()
        if repeated.any():
            first, second = (self.ids == self.ids.filter(repeated)[0]).arg_true()[:2].to_list()
            raise self.table.error(
                f"the id {self.ids[second]!r} occurs twice, first on line {self.table.line_of(first)}",
                "A node has one row. If this is a table of edges, give it without --nodes.",
                second,
            )

    def labels(self, used: pl.Series) -> dict[str, str]:
        """Return the label of each used node that has one."""
        if not self.columns.name:
            return {}
        texts = _one_line(as_text(self.table.frame[self.columns.name])[0])
        frame = pl.DataFrame({"id": self.ids, "text": texts}).filter(used).drop_nulls()
        return dict(frame.iter_rows())

    def types(self, used: pl.Series) -> dict[str, tuple[str, ...]]:
        """Return the types of each used node that has one."""
        if not self.columns.types:
            all_types = (self.columns.all_types,)
            return dict.fromkeys(self.ids.filter(used), all_types) if self.columns.all_types else {}
        column = self.table.frame[self.columns.types]
        if isinstance(column.dtype, pl.List):
            texts = column.cast(pl.List(pl.String))
        else:
            texts = _split_types(as_text(column)[0])
        frame = pl.DataFrame({"id": self.ids, "types": texts}).filter(used).drop_nulls()
        return {id: tuple(types) for id, types in frame.iter_rows() if types}


def _split_types(column: pl.Series) -> pl.Series:
    """Split ``:Person:Author`` or ``Person;Author``."""
    unified = _one_line(column).str.replace_all(r"[:;|]+", ";").str.strip_chars(";")
    return unified.str.split(";")


def _one_line(column: pl.Series) -> pl.Series:
    """Replace tabs and line ends, which files of labels cannot hold."""
    return column.str.replace_all(r"[\t\r\n]+", " ")


def _prefix_ambiguous_ids(nodes: Sequence[_Nodes]) -> None:
    """Tell ids of different spaces apart, if the same id occurs in several."""
    spaces = {each.space for each in nodes}
    if len(spaces) > 1 and pl.concat([each.ids for each in nodes]).is_duplicated().any():
        for each in nodes:
            each.ids = f"{each.space}:" + each.ids if each.space else each.ids


def _end(table: Table, column: str, nodes: Sequence[_Nodes]) -> pl.Series:
    """Return the nodes at one end of the edges, prefixed as :func:`_prefix_ambiguous_ids` did."""
    ids, space = _ids(table, column), table.spaces.get(column, "")
    prefixed = any(each.space == space and each.ids.str.starts_with(f"{space}:").all() for each in nodes)
    return f"{space}:" + ids if space and prefixed else ids


def _unknown_ends(table: Table, ends: pl.Series, nodes: Sequence[_Nodes]) -> list[str]:
    if not nodes:
        return []
    unknown = ends.filter(~ends.is_in(pl.concat([each.ids for each in nodes]).implode())).unique()
    if not len(unknown):
        return []
    example = str(unknown.sort()[0])
    no_nodes = counted(len(unknown), "end of an edge is no node", "ends of edges are no nodes")
    return [f"{table.name}: {no_nodes} of the tables of nodes, such as {example!r}"]


def _ids(table: Table, column: str) -> pl.Series:
    """Return a column of ids as text; each row must have one."""
    ids, type = as_text(table.frame[column])
    ids = literal_values(ids, "number") if type == "number" else ids
    if ids.has_nulls():
        row = int(ids.is_null().arg_true()[0])
        raise table.error(f"no value in column {column!r}", "Each row must have one.", row)
    return ids


def _relations(table: Table, relation: str | EdgeMapping) -> pl.Series:
    if isinstance(relation, str):
        return pl.Series([relation]).new_from_index(0, table.frame.height)
    if not relation.type:
        return pl.Series([relation.relation]).new_from_index(0, table.frame.height)
    return _ids(table, relation.type)


def _names(table: Table, column: str, type: str) -> pl.Series:
    """Return the names of the values in a column; each value must be of the type that the mapping says."""
    values = table.frame[column]
    if isinstance(values.dtype, pl.List):
        flat = table.frame.select(column).with_row_index("row").explode(column)
        names = literal_names(as_text(flat[column])[0], type)
        return pl.DataFrame({"row": flat["row"], "name": names}).group_by("row", maintain_order=True).all()["name"]
    texts, _ = as_text(values)
    names = literal_names(texts, type)
    wrong = names.is_null() & texts.is_not_null()
    if wrong.any():
        row = int(wrong.arg_true()[0])
        raise table.error(
            f"{texts[row]!r} in column {column!r} is not a {type}",
            f"Correct it, or import the column as entities: --entity {column}",
            row,
        )
    return names
