"""Time the import of a generated dump that is built like Wikidata's, and measure its memory.

    python benchmarks/importing.py [--megabytes 300 900] [--extension json.gz] [--rounds 1] [--json]
    python benchmarks/importing.py --generate dump.json.gz --megabytes 100

Entities have labels, descriptions and aliases in ten languages, site links, and statements with qualifiers, references
and external ids, about as many as in Wikidata. Each import runs in a process of its own: the rate is in megabytes of
JSON a second of processor time, memory is the peak of that process. It should not grow with the size of the dump.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import orjson

from nary.data.files import open_to_write
from nary.data.importers.wikidata.importing import import_wikidata

LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "ru", "ja", "zh", "ar")
SYLLABLES = ("ka", "lo", "mi", "ren", "ta", "vor", "shu", "bel", "ga", "nor", "pi", "stel", "dra", "un", "wex", "zo")
WIKIDATA = "http://www.wikidata.org/entity/"
ITEMS, PROPERTIES = 100_000, 300
MB = 1_000_000


class Generator:
    """Invents entities."""

    def __init__(self, seed: int = 0) -> None:
        self.random = random.Random(seed)

    def dump(self, path: Path, size: int) -> None:
        """Write about ``size`` bytes of JSON, an array with one entity per line."""
        with open_to_write(path) as file:
            file.write(b"[\n")
            written = 0
            for entity in self.entities():
                line = orjson.dumps(entity)
                file.write(line + b",\n" if written + len(line) < size else line + b"\n]\n")
                written += len(line) + 2
                if written >= size:
                    return

    def entities(self) -> Iterator[dict[str, Any]]:
        """Yield properties, then items without end."""
        for number in range(1, PROPERTIES + 1):
            yield self.entity("property", f"P{number}", 3)
        number = 0
        while True:
            number += 1
            yield self.entity("item", f"Q{number}", self.random.randrange(4, 28))

    def entity(self, type: str, id: str, statements: int) -> dict[str, Any]:
        """An entity with so many statements."""
        claims: dict[str, list[Any]] = {"P31": [self.statement("P31", f"{id}$0", self.item())]}
        for number in range(statements):
            relation = f"P{self.random.randrange(32, PROPERTIES)}"
            claims.setdefault(relation, []).append(self.statement(relation, f"{id}${number}", self.snak()))
        texts = {language: {"language": language, "value": self.words(2)} for language in LANGUAGES}
        return {
            "type": type,
            "id": id,
            "labels": texts,
            "descriptions": {language: {"language": language, "value": self.words(4)} for language in LANGUAGES},
            "aliases": {language: [{"language": language, "value": self.words(2)}] for language in LANGUAGES[:4]},
            "claims": claims,
            "sitelinks": {
                f"{language}wiki": {"site": f"{language}wiki", "title": self.words(2), "badges": []}
                for language in LANGUAGES[: self.random.randrange(8)]
            },
            "lastrevid": self.random.randrange(10**9),
        }

    def statement(self, relation: str, id: str, snak: dict[str, Any]) -> dict[str, Any]:
        """A statement; a third has qualifiers, two thirds have references."""
        rank = self.random.choices(("normal", "preferred", "deprecated"), (96, 2, 2))[0]
        content = {"mainsnak": {**snak, "property": relation, "hash": f"{self.random.getrandbits(160):040x}"}}
        content |= {"type": "statement", "id": f"{id}-{self.random.getrandbits(64):x}", "rank": rank}
        if self.random.random() < 1 / 3:
            names = {f"P{self.random.randrange(32, PROPERTIES)}" for _ in range(self.random.randrange(1, 4))}
            content["qualifiers"] = {
                name: [{**self.snak(), "property": name, "hash": f"{self.random.getrandbits(160):040x}"}]
                for name in sorted(names)
            }
        if self.random.random() < 2 / 3:
            snaks = {"P248": [{**self.item(), "property": "P248"}], "P813": [{**self.time(), "property": "P813"}]}
            reference = {
                "hash": f"{self.random.getrandbits(160):040x}",
                "snaks": snaks,
                "snaks-order": ["P248", "P813"],
            }
            content["references"] = [reference]
        return content

    def snak(self) -> dict[str, Any]:
        """A value of a usual kind: an external id, an item, a time, a quantity, a text, a place, or unknown."""
        kinds = (self.external_id, self.item, self.time, self.quantity, self.text, self.point, self.unknown)
        return self.random.choices(kinds, (40, 35, 10, 6, 5, 3, 1))[0]()

    def item(self) -> dict[str, Any]:
        """An item; few are frequent."""
        number = int(ITEMS ** self.random.random())
        value = {"entity-type": "item", "numeric-id": number, "id": f"Q{number}"}
        return _snak("wikibase-item", "wikibase-entityid", value)

    def time(self) -> dict[str, Any]:
        """A day."""
        text = (
            f"+{self.random.randrange(1500, 2025)}-{self.random.randrange(1, 13):02}-{self.random.randrange(1, 29):02}"
        )
        value = {"time": f"{text}T00:00:00Z", "timezone": 0, "before": 0, "after": 0, "precision": 11}
        return _snak("time", "time", {**value, "calendarmodel": f"{WIKIDATA}Q1985727"})

    def quantity(self) -> dict[str, Any]:
        """A number with a unit."""
        return _snak(
            "quantity", "quantity", {"amount": f"+{self.random.randrange(10**6)}", "unit": f"{WIKIDATA}Q11573"}
        )

    def text(self) -> dict[str, Any]:
        """A text in English."""
        return _snak("monolingualtext", "monolingualtext", {"text": self.words(3), "language": "en"})

    def point(self) -> dict[str, Any]:
        """A place on the Earth."""
        place = {
            "latitude": round(self.random.uniform(-90, 90), 4),
            "longitude": round(self.random.uniform(-180, 180), 4),
        }
        return _snak("globe-coordinate", "globecoordinate", {**place, "precision": 0.0001, "globe": f"{WIKIDATA}Q2"})

    def external_id(self) -> dict[str, Any]:
        """An id in another catalog."""
        return _snak("external-id", "string", f"{self.random.getrandbits(40):x}")

    def unknown(self) -> dict[str, Any]:
        """An unknown value."""
        return {"snaktype": "somevalue", "datatype": "wikibase-item"}

    def words(self, number: int) -> str:
        """Invented words."""
        return " ".join("".join(self.random.choices(SYLLABLES, k=3)) for _ in range(number))


def _snak(datatype: str, type: str, value: Any) -> dict[str, Any]:
    return {"snaktype": "value", "datatype": datatype, "datavalue": {"type": type, "value": value}}


def measure(dump: Path, size: int, rounds: int) -> dict[str, Any]:
    """Import the dump in processes of their own; return the medians."""
    results = []
    for _ in range(rounds):
        done = subprocess.run([sys.executable, __file__, "--import", dump], check=True, capture_output=True)
        results.append(orjson.loads(done.stdout))
    seconds = median(result["seconds"] for result in results)
    return {
        "megabytes": round(size / MB),
        "facts": results[0]["facts"],
        "seconds": round(seconds, 1),
        "megabytes_per_second": round(size / MB / seconds, 1),
        "facts_per_second": round(results[0]["facts"] / seconds),
        "peak_megabytes": round(median(result["peak"] for result in results) / MB),
    }


def print_import(dump: Path) -> None:
    """Import the dump and print seconds and peak memory; :func:`measure` runs this in a subprocess."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        report = import_wikidata(dump, Path(folder) / "data")
        seconds = time.process_time() - start
    # not getrusage, whose peak includes that of the parent process
    peak = 1024 * int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
    print(orjson.dumps({"seconds": seconds, "facts": report.counts["facts"], "peak": peak}).decode())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, nargs="+", default=[300, 900])
    parser.add_argument("--extension", default="json.gz", help="json, json.gz, json.bz2 or json.zst")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--generate", type=Path, help="write a dump to this file and stop")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--import", dest="dump", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.dump:
        print_import(options.dump)
    elif options.generate:
        Generator().dump(options.generate, options.megabytes[0] * MB)
    else:
        from nary.reproduction.records import hardware  # not in the processes that are measured: it needs torch

        rows = []
        with tempfile.TemporaryDirectory() as folder:
            for megabytes in options.megabytes:
                dump = Path(folder) / f"dump.{options.extension}"
                Generator().dump(dump, megabytes * MB)
                rows.append(measure(dump, megabytes * MB, options.rounds))
        figures = {"extension": options.extension, "rounds": options.rounds, "imports": rows, "hardware": hardware()}
        print(orjson.dumps(figures).decode() if options.json else "\n".join(map(str, [*rows, figures["hardware"]])))


if __name__ == "__main__":
    main()
