"""Trackers that need nothing installed: a table or JSON Lines, to be read by any tool."""

import csv
import io
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson

from nary.errors import SettingError
from nary.files.writing import append, atomic_path
from nary.runs.trackers.base import Tracker


class _FileTracker(Tracker):
    """Appends lines to a file: ``where``, or one in the run folder. Several runs may share it.

    A run that goes on at a step drops what it had reported of later steps: they will be repeated.
    """

    _file_name = ""
    _header = b""

    def open(self, name: str, settings: Mapping[str, object], step: int) -> None:
        """Keep the lines of other runs, and those of this one up to ``step``."""
        if self.where is None and self.folder is None:
            raise SettingError(f"{type(self).__name__} has no file to write to", "Give it a path, or train with out=.")
        self._path = Path(self.where) if self.where is not None else (self.folder or Path()) / self._file_name
        self._name, self._step = name, step
        lines = self._path.read_bytes().removeprefix(self._header).splitlines(True) if self._path.is_file() else []
        kept = [line for line in lines if not self._is_later(line, name, step)]
        with atomic_path(self._path) as temporary:
            temporary.write_bytes(b"".join([self._header, *kept]))
        if not step:
            self._append(self._of_settings(settings))

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Append the values."""
        self._step = step
        self._append(self._of_values(values))

    def close(self, final: Mapping[str, float], files: Mapping[str, Path], finished: bool) -> None:
        """Append the final values."""
        self._append(self._of_values(final))

    def _append(self, lines: Iterator[bytes]) -> None:
        append(self._path, b"".join(lines))

    @abstractmethod
    def _of_settings(self, settings: Mapping[str, object]) -> Iterator[bytes]: ...

    @abstractmethod
    def _of_values(self, values: Mapping[str, float]) -> Iterator[bytes]: ...

    @abstractmethod
    def _is_later(self, line: bytes, name: str, step: int) -> bool: ...


class CSVTracker(_FileTracker):
    """Writes a table with the columns run, step, name and value: ``tracking.csv`` in the run folder by default."""

    _file_name = "tracking.csv"
    _header = b"run,step,name,value\n"

    def _of_settings(self, settings: Mapping[str, object]) -> Iterator[bytes]:
        return (self._line(name, value) for name, value in settings.items())

    def _of_values(self, values: Mapping[str, float]) -> Iterator[bytes]:
        return (self._line(name, value) for name, value in values.items())

    def _line(self, name: str, value: object) -> bytes:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow([self._name, self._step, name, value])
        return text.getvalue().encode()

    def _is_later(self, line: bytes, name: str, step: int) -> bool:
        run, at = next(csv.reader([line.decode()]))[:2]
        return run == name and (step == 0 or int(at) > step)


class JSONTracker(_FileTracker):
    """Writes JSON Lines: the settings, then each step; ``tracking.jsonl`` in the run folder by default."""

    _file_name = "tracking.jsonl"

    def _of_settings(self, settings: Mapping[str, object]) -> Iterator[bytes]:
        yield self._line({"settings": settings})

    def _of_values(self, values: Mapping[str, float]) -> Iterator[bytes]:
        if values:
            yield self._line(values)

    def _line(self, content: Mapping[str, object]) -> bytes:
        return orjson.dumps({"run": self._name, "step": self._step, **content}, option=orjson.OPT_APPEND_NEWLINE)

    def _is_later(self, line: bytes, name: str, step: int) -> bool:
        record = orjson.loads(line)
        return bool(record["run"] == name and (step == 0 or record["step"] > step))
