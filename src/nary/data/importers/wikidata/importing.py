"""Streaming a Wikidata dump into a folder of data, part by part, so that memory stays bounded and a kill loses little.

Facts go to files of parts, and so do the label and types of every entity; after each part the state is written down. At
the end the parts are joined, with the labels and types of the names that occur.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from nary.data.files import Source
from nary.data.importers.wikidata.dump import check_head, entities, parse_entity
from nary.data.importers.wikidata.parts import Parts
from nary.data.importers.wikidata.settings import WikidataSettings
from nary.data.importers.wikidata.statements import StatementReader, TruthyDumpError
from nary.errors import DataError, FactError, NaryError, OutputError
from nary.files.locks import folder_lock
from nary.files.writing import atomic_path, remove
from nary.progress import Progress, no_progress

FILE = "wikidata.toml"
"""Settings and counts of the import, in the folder of data."""

FORMATS = ("jsonl", "parquet")
_BROKEN = "lines that are no entities"


@dataclass(frozen=True)
class WikidataReport:
    """What was imported: ``counts`` of entities, statements and facts, and how much was ``left_out`` for which reason.

    ``resumed_after`` is the number of lines that an earlier, interrupted import has read.
    """

    counts: Mapping[str, int]
    left_out: Mapping[str, int]
    resumed_after: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the report for JSON."""
        return {"counts": dict(self.counts), "left_out": dict(self.left_out), "resumed_after": self.resumed_after}


def import_wikidata(
    dump: Path,
    out: Path,
    settings: WikidataSettings | None = None,
    *,
    format: str = "jsonl",
    on_error: str = "stop",
    part_size: int = 1 << 17,
    progress: Progress = no_progress,
) -> WikidataReport:
    """Import a JSON dump into a new folder ``out``.

    A part is complete after ``part_size`` facts or entities. An import that is killed leaves ``out.partial`` behind;
    the same call continues after its last complete part. A line that is no entity is an error, or is counted with
    ``on_error="skip"``.
    """
    settings = settings or WikidataSettings()
    settings.check()
    if format not in FORMATS:
        raise OutputError(f"a dump cannot be imported as {format}", f"Formats: {', '.join(FORMATS)}.")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise OutputError(f"{out} exists and is not an empty folder", "Choose another name, or remove it first.")
    folder = out.with_name(f"{out.name}.partial")
    with Source(dump, progress) as source:
        check_head(dump, source.head)
        size = dump.stat().st_size if dump.is_file() else 0
        job = {"dump": dump.name, "bytes": size, "format": format, "settings": settings.as_dict()}
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot write {folder}: {error.strerror}", "Choose another place.") from None
        with folder_lock(folder):
            parts = Parts(folder, job, part_size)
            try:
                report = _read(source, StatementReader(settings), parts, on_error == "skip")
            except NaryError as error:
                if parts.complete:
                    error.hint = f"{error.hint} What was read before is in {folder}: the same command continues there."
                else:
                    remove(folder)
                raise
            if not report.counts["facts"]:
                remove(folder)
                raise DataError(
                    "no facts to import", "Check the filters: which properties, classes and ids?", source.name
                )
            with atomic_path(out) as temporary:
                temporary.mkdir()
                counts = {**report.counts, **parts.join(temporary)}
                report = WikidataReport(counts, report.left_out, report.resumed_after)
                (temporary / FILE).write_text(tomli_w.dumps({**job, **report.as_dict()}), encoding="utf-8")
    remove(folder)
    return report


def _read(source: Source, reader: StatementReader, parts: Parts, skip: bool) -> WikidataReport:
    """Read the dump from where the complete parts end, and write the remaining ones."""
    counts, left_out = reader.counts, reader.left_out
    counts.update(parts.counts.get("counts", {}))  # which adds
    left_out.update(parts.counts.get("left_out", {}))
    resumed_after = number = parts.lines
    for number, line in entities(source, parts.lines):
        try:
            entity = parse_entity(line)
            types = reader.types(entity)
            facts = list(reader.facts(entity, types))
            label = reader.label(entity)
        except (DataError, FactError, KeyError, TypeError, AttributeError, ValueError) as error:
            problem = _problem(error, source.name, number)
            if not skip or isinstance(error, TruthyDumpError):
                raise problem from None
            left_out[_BROKEN] += 1
            continue
        counts["facts"] += len(facts)
        counts["qualifiers"] += sum(len(fact.qualifiers) for fact in facts)
        if parts.add(entity["id"], label, types, facts):
            parts.write(number, {"counts": counts, "left_out": left_out})
    parts.write(number, {"counts": counts, "left_out": left_out})
    return WikidataReport(counts, {reason: n for reason, n in sorted(left_out.items()) if n}, resumed_after)


def _problem(error: Exception, file: str, line: int) -> DataError:
    """Say what is wrong with a line."""
    if isinstance(error, NaryError):
        return DataError(error.message, error.hint, file, line)
    reason = f"the key {error} is missing" if isinstance(error, KeyError) else str(error)
    hint = "Correct it, or leave such lines out: --on-error skip"
    return DataError(f"not an entity as in Wikidata's dumps: {reason}", hint, file, line)
