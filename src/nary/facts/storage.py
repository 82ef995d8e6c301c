"""Tables and vocabularies on disk: Parquet for keeping, plain arrays for mapping into memory.

Files are written in place: a caller that needs them to appear whole or not at all writes to a temporary folder first.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nary.errors import DataError
from nary.facts.layout import FIRST_ATTRIBUTE, is_row_length
from nary.facts.names import PackedNames, pack, pieces
from nary.facts.parquet import quiet_panics, write_parquet_parts
from nary.facts.parquet_footer import check_parquet_size
from nary.facts.table import Block, FactTable
from nary.facts.vocabulary import Vocabulary
from nary.files.reading import read_bytes

if TYPE_CHECKING:
    import polars as pl

_PART, _NAMES = 1 << 20, 1 << 16  # facts and names at a time
_MAX_VOCABULARY = 1 << 31  # bytes; ten million names of two hundred characters


def save_table(table: FactTable, folder: Path) -> None:
    """Write ``table`` uncompressed, so that :func:`open_table` can map it into memory."""
    folder.mkdir(parents=True, exist_ok=True)
    for block in table.blocks:
        np.save(folder / f"arity-{block.arity}-ids.npy", block.ids)
        np.save(folder / f"arity-{block.arity}-rows.npy", block.rows)


def open_table(folder: Path) -> FactTable:
    """A table as :func:`save_table` wrote it, mapped into memory: nothing is read before it is used."""
    if not folder.is_dir():
        raise DataError("there is no table of facts", file=str(folder))
    try:
        blocks = [
            Block(_map(path), _map(path.with_name(path.name.replace("-ids.npy", "-rows.npy"))))
            for path in folder.glob("arity-*-ids.npy")
        ]
        _check_blocks(blocks)
        return FactTable(blocks)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"damaged table of facts: {error}", file=str(folder)) from None


def _map(path: Path) -> npt.NDArray[Any]:
    """The array in a file, mapped into memory. OSError, ValueError or EOFError."""
    if not path.is_file():  # a pipe would wait for its writer
        raise ValueError(f"{path.name} is not a regular file")
    try:
        array: npt.NDArray[Any] = np.load(path, mmap_mode="r")
    except OverflowError as error:
        raise ValueError(str(error)) from None
    return array


def _check_blocks(blocks: Sequence[Block]) -> None:
    """Refuse arrays that are no table. Only the last place of each block is read: places ascend without holes."""
    for ids, rows in ((block.ids, block.rows) for block in blocks):
        if ids.dtype.str[1:] != "i4" or rows.dtype.str[1:] != "i8":
            raise ValueError(f"arrays of {ids.dtype} and {rows.dtype}, not int32 and int64")
        if ids.ndim != 2 or rows.shape != ids.shape[:1] or not is_row_length(ids.shape[1]):
            raise ValueError(f"arrays of shapes {ids.shape} and {rows.shape} do not fit together")
    if len({block.arity for block in blocks}) < len(blocks):
        raise ValueError("two arrays have the same arity")
    if sum(map(len, blocks)) != max((int(block.rows[-1]) + 1 for block in blocks if len(block)), default=0):
        raise ValueError("facts are missing")


def check_table(table: FactTable, num_entities: int, num_relations: int) -> None:
    """Refuse ids without a name and places without a fact; ValueError. A large table is read in parts."""
    has_fact = np.zeros(len(table), bool)
    for block in table.blocks:
        for start in range(0, len(block), _PART):
            rows = block.rows[start : start + _PART]
            if (
                rows.min() < 0
                or rows.max() >= len(table)
                or (np.diff(block.rows[start : start + _PART + 1]) <= 0).any()
            ):
                raise ValueError("the places of facts are out of order")
            has_fact[rows] = True
            ids = block.ids[start : start + _PART]
            for columns, size in ((block.entity_columns, num_entities), (block.relation_columns, num_relations)):
                if ids[:, columns].min() < 0 or ids[:, columns].max() >= size:
                    raise ValueError(f"an id is not below {size:,}, the number of names")
    if not has_fact.all():
        raise ValueError("facts are missing")


def save_names(names: Iterable[str], folder: Path, kind: str) -> int:
    """Write names so that :func:`open_names` can map them into memory; returns how many are sorted."""
    packed = names if isinstance(names, PackedNames) else PackedNames.of(names)
    np.save(folder / f"{kind}-text.npy", packed.text)
    np.save(folder / f"{kind}-offsets.npy", packed.offsets)
    return packed.num_sorted


def open_names(folder: Path, kind: str, num_sorted: int) -> PackedNames:
    """Names as :func:`save_names` wrote them, mapped into memory. ValueError for what is no UTF-8."""
    text, offsets = (_map(folder / f"{kind}-{part}.npy") for part in ("text", "offsets"))
    if text.dtype != np.uint8 or offsets.dtype != np.int64 or text.ndim != 1 or offsets.ndim != 1 or not offsets.size:
        raise ValueError(f"the {kind} are arrays of {text.dtype} and {offsets.dtype}, not of names")
    if offsets[0] != 0 or offsets[-1] != text.size or num_sorted not in range(offsets.size):
        raise ValueError(f"the {kind} have another size")
    for start in range(0, len(offsets) - 1, _NAMES):
        part = offsets[start : start + _NAMES + 1]
        if (np.diff(part) < 0).any():
            raise ValueError(f"the {kind} are out of order")
        str(text[part[0] : part[-1]].data, "utf-8", "surrogatepass")
        first_bytes = text[part[:-1][part[:-1] < part[1:]]]
        if ((first_bytes & 0xC0) == 0x80).any():
            raise ValueError(f"the {kind} begin within a character")
    return PackedNames(text, offsets, num_sorted)


def save_table_parquet(table: FactTable, path: Path) -> None:
    """Write ``table`` as one Parquet file of ids, a fact a row, in the order the facts came in."""
    write_parquet_parts(_frames(table), _parquet_schema(), path)


def _frames(table: FactTable) -> "Iterator[pl.DataFrame]":
    """The rows, some at a time."""
    import polars as pl

    for start in range(0, len(table), _PART):
        parts = []
        for block in table.blocks_between(start, start + _PART):
            frame = pl.DataFrame(block.ids[:, :FIRST_ATTRIBUTE], ["relation", "subject", "object"])
            for name, ids in (("attributes", block.attributes), ("values", block.values)):
                as_lists = pl.Series(name, np.ascontiguousarray(ids)).arr.to_list() if block.qualifiers else None
                empty = pl.Series(name, [[]], dtype=pl.List(pl.Int32)).new_from_index(0, len(block))
                frame = frame.with_columns(empty if as_lists is None else as_lists)
            parts.append(frame.with_columns(row=pl.Series(block.rows)))
        yield pl.concat(parts).sort("row").drop("row")


def load_table_parquet(path: Path) -> FactTable:
    """A table as :func:`save_table_parquet` wrote it."""
    import polars as pl

    try:
        check_parquet_size(path)
        with quiet_panics():
            frame = pl.read_parquet(path, glob=False)
        if frame.schema != _parquet_schema() or any(frame.null_count().row(0)):
            raise ValueError(f"it has the columns {', '.join(frame.columns)}, of other types or with holes")
        counts = frame["attributes"].list.len().to_numpy().astype(np.int64)
        pairs = frame.select("attributes", "values").filter(counts > 0).explode("attributes", "values")
        heads = frame.select("relation", "subject", "object").to_numpy()
        return FactTable.from_columns(heads, counts, pairs.to_numpy())
    except (OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(f"not a Parquet table of facts: {error}", file=str(path)) from None


def _parquet_schema() -> "dict[str, pl.DataType]":
    import polars as pl

    heads: dict[str, pl.DataType] = {name: pl.Int32() for name in ("relation", "subject", "object")}
    return {**heads, "attributes": pl.List(pl.Int32), "values": pl.List(pl.Int32)}


def save_vocabulary(vocabulary: Vocabulary, path: Path) -> None:
    """Write names, labels and types as JSON."""
    content = {"labels": dict(vocabulary.labels), **({"types": dict(vocabulary.types)} if vocabulary.types else {})}
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("{")
        for kind, names in (("entities", vocabulary.entities), ("relations", vocabulary.relations)):
            file.write(f'"{kind}": [')
            for number, piece in enumerate(pieces(names)):  # a text of very many names at once would be large
                file.write((", " if number else "") + json.dumps(piece, ensure_ascii=False)[1:-1])
            file.write("], ")
        file.write(json.dumps(content, ensure_ascii=False)[1:])


def load_vocabulary(path: Path) -> Vocabulary:
    """A vocabulary as :func:`save_vocabulary` wrote it."""
    import orjson

    try:
        content = orjson.loads(read_bytes(path, _MAX_VOCABULARY))
        entities, relations, labels = content["entities"], content["relations"], content["labels"]
        for names in (entities, relations):
            if not isinstance(names, list) or len(set(names)) < len(names):
                raise ValueError("its names are no list without repetitions")
        types = {name: tuple(each) for name, each in content.get("types", {}).items()}
        all_types = (type for each in types.values() for type in each)
        if not all(isinstance(name, str) for name in (*entities, *relations, *labels.values(), *all_types)):
            raise ValueError("a name, label or type is no text")
        return Vocabulary(pack(entities), pack(relations), labels, types)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise DataError(f"damaged vocabulary: {error}", file=str(path)) from None
