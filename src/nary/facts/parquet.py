"""Parquet with polars: errors of the system as such, and no text of a panic on standard error."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_STANDARD_ERROR = 2


def write_parquet(frame: "pl.DataFrame", path: Path) -> None:
    """Write a table; OSError if the system refuses, for example because the disk is full."""
    import polars as pl

    try:
        with quiet_panics():
            frame.write_parquet(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise OSError(str(error).splitlines()[0]) from None


def write_parquet_parts(parts: "Iterator[pl.DataFrame]", schema: "Mapping[str, pl.DataType]", path: Path) -> None:
    """Write a table that comes in parts, of which few are in memory at a time; OSError if the system refuses."""
    import polars as pl
    from polars.io.plugins import register_io_source

    source = register_io_source(lambda *_: parts, schema=dict(schema))
    try:
        with quiet_panics():
            source.sink_parquet(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise OSError(str(error).splitlines()[0]) from None


@contextmanager
def quiet_panics() -> Iterator[None]:
    """Hold back what is written to standard error, and drop it if polars panics: the exception says it, too."""
    import polars as pl

    try:
        saved = os.dup(_STANDARD_ERROR)
    except OSError:  # it is closed
        yield
        return
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), _STANDARD_ERROR)
        panicked = False
        try:
            yield
        except pl.exceptions.PanicException:
            panicked = True
            raise
        finally:
            os.dup2(saved, _STANDARD_ERROR)
            os.close(saved)
            held.seek(0)
            if not panicked and (text := held.read()):
                os.write(_STANDARD_ERROR, text)
