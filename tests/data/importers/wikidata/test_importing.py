"""Importing dumps: filters, ranks, labels, compression, resuming, bounded memory."""

import bz2
import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard
from data.importers.wikidata.small import (
    PEOPLE,
    as_array,
    as_lines,
    entity,
    item,
    missing,
    quantity,
    statement,
    string,
    write,
)

from nary.data.importers.wikidata.importing import WikidataReport, import_wikidata
from nary.data.importers.wikidata.settings import WikidataSettings
from nary.data.io.reader import read
from nary.errors import DataError, NaryError, OutputError

ALL = {
    "Q10 | P31 | Q5",
    "Q10 | P108 | Q20 | P580: 2001-05^^date",
    "Q11 | P31 | Q5",
    "Q11 | P108 | Q21",
    "Q11 | P108 | Q20",
    "Q20 | P31 | Q4830453",
}


def facts(folder: Path) -> set[str]:
    dataset = read(folder)
    return {str(fact) for fact in dataset.train.facts(dataset.vocabulary)}


def imported(folder: Path, **settings: object) -> tuple[set[str], WikidataReport]:
    write(folder / "dump.json", PEOPLE)
    report = import_wikidata(folder / "dump.json", folder / "out", WikidataSettings(**settings))
    return facts(folder / "out"), report


def test_facts_labels_types_and_counts(tmp_path: Path) -> None:
    got, report = imported(tmp_path)
    assert got == ALL
    vocabulary = read(tmp_path / "out").vocabulary
    assert vocabulary.types == {"Q10": ("Q5",), "Q11": ("Q5",), "Q20": ("Q4830453",)}
    assert set(vocabulary.labels) == {"P31", "P108", "P580", "Q5", "Q10", "Q11", "Q20", "Q21"}
    assert vocabulary.label("Q20") == "Glass Works"
    assert report.left_out == {"deprecated statements": 1, "references": 2}
    counts = {"entities read": 9, "entities kept": 9, "statements": 7, "facts": 6, "qualifiers": 1}
    assert report.counts == {**counts, "ids in the facts": 9, "labels": 8, "types": 3}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dump.json", "out"]


@pytest.mark.parametrize(
    ("settings", "expected", "reason"),
    [
        ({"properties": ["P31"]}, {fact for fact in ALL if "P31" in fact}, "statements of other properties"),
        ({"classes": ["Q5"]}, ALL - {"Q20 | P31 | Q4830453"}, "entities that the filters exclude"),
        ({"ids": ["Q20"]}, {"Q20 | P31 | Q4830453"}, "entities that the filters exclude"),
        ({"best_rank": True}, ALL - {"Q11 | P108 | Q20"}, "statements of normal rank beside preferred ones"),
    ],
)
def test_filters(tmp_path: Path, settings: dict[str, object], expected: set[str], reason: str) -> None:
    got, report = imported(tmp_path, **settings)
    assert got == expected
    assert report.left_out[reason]


def test_entities_that_are_only_mentioned_have_labels_and_types(tmp_path: Path) -> None:
    imported(tmp_path, ids=["Q10"], properties=["P108"])
    vocabulary = read(tmp_path / "out").vocabulary
    assert vocabulary.labels == {
        "P108": "employer",
        "P580": "start time",
        "Q10": "Ada Fern",
        "Q20": "Glass Works",
        "Q5": "human",  # a type of Q10
    }
    assert vocabulary.types == {"Q10": ("Q5",), "Q20": ("Q4830453",)}


def test_labels_are_in_the_first_language_that_has_one(tmp_path: Path) -> None:
    labels = {"de": {"value": "Haus"}, "mul": {"value": "casa\tdomus"}}
    content = [{**entity("Q1", P1=[statement(item("Q2"))]), "labels": labels}, entity("Q2", "two")]
    for language, label in (("en,mul", "casa domus"), ("de", "Haus"), ("fr", "Q1")):
        folder = tmp_path / language
        settings = WikidataSettings(languages=language.split(","))
        import_wikidata(write(tmp_path / "dump.json", content), folder, settings)
        assert read(folder).vocabulary.label("Q1") == label


def test_units_have_labels(tmp_path: Path) -> None:
    content = [entity("Q1", P1=[statement(quantity("+5", "Q11"))]), entity("Q11", "meter")]
    import_wikidata(write(tmp_path / "dump.json", content), tmp_path / "out")
    assert read(tmp_path / "out").vocabulary.label("5^^quantity:Q11") == "5 meter"


def test_qualifiers_are_left_out_alone(tmp_path: Path) -> None:
    pairs = {"P2": [missing("somevalue"), item("Q3")], "P3": [string("x-1", "external-id")]}
    report = import_wikidata(
        write(tmp_path / "d.json", [entity("Q1", P1=[statement(item("Q2"), pairs)])]), tmp_path / "out"
    )
    assert facts(tmp_path / "out") == {"Q1 | P1 | Q2 | P2: Q3"}
    assert report.left_out == {"qualifiers of datatype external-id": 1, "qualifiers with an unknown value": 1}


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, zstandard.compress])
@pytest.mark.parametrize("format", [as_array, as_lines])
def test_arrays_and_lines_plain_and_packed(tmp_path: Path, pack, format) -> None:
    (tmp_path / "dump").write_bytes(pack(format(PEOPLE)))
    import_wikidata(tmp_path / "dump", tmp_path / "out", format="parquet")
    assert facts(tmp_path / "out") == ALL


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_parts_are_joined(tmp_path: Path, format: str) -> None:
    write(tmp_path / "dump.json", PEOPLE)
    whole = import_wikidata(tmp_path / "dump.json", tmp_path / "whole", format=format)
    parts = import_wikidata(tmp_path / "dump.json", tmp_path / "parts", format=format, part_size=1)
    assert whole == parts
    for name in ("labels.tsv", "types.tsv", "wikidata.toml"):
        assert (tmp_path / "whole" / name).read_text() == (tmp_path / "parts" / name).read_text()
    assert facts(tmp_path / "whole") == facts(tmp_path / "parts") == ALL


def test_an_interrupted_import_continues(tmp_path: Path) -> None:
    """A process is killed in the middle, as by the system; a second one gives what one alone would have given."""
    people = [
        entity(f"Q{i}", f"Person {i}", P108=[statement(item(f"Q{i % 7}"), {"P1": [quantity(f"+{i}")]})])
        for i in range(1, 60)
    ]
    write(tmp_path / "dump.json", people)
    whole = import_wikidata(tmp_path / "dump.json", tmp_path / "whole", part_size=10)
    code = f"""
import os, signal, sys
from pathlib import Path
from nary.data.importers.wikidata import importing, parts
write, folder = parts.Parts.write, Path({str(tmp_path)!r})
def write_and_die(self, *arguments):
    if self.complete == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    write(self, *arguments)
parts.Parts.write = write_and_die
importing.import_wikidata(folder / "dump.json", folder / "out", part_size=10)
"""
    assert subprocess.run([sys.executable, "-c", code], env=os.environ).returncode == -signal.SIGKILL
    assert (tmp_path / "out.partial" / "state.json").exists()
    assert not (tmp_path / "out").exists()
    with pytest.raises(OutputError, match="with other settings"):
        import_wikidata(tmp_path / "dump.json", tmp_path / "out", WikidataSettings(best_rank=True))
    report = import_wikidata(tmp_path / "dump.json", tmp_path / "out", part_size=10)
    assert report.resumed_after == 31  # the bracket and thirty entities
    assert (report.counts, report.left_out) == (whole.counts, whole.left_out)
    for name in ("train.jsonl", "labels.tsv"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
    assert not (tmp_path / "out.partial").exists()


def test_broken_lines_stop_or_are_counted(tmp_path: Path) -> None:
    (tmp_path / "dump").write_bytes(
        as_lines(PEOPLE[:5]) + b'{"id": "Q1", "claims": {"P1": [{}]}}\n' + as_lines(PEOPLE[5:])
    )
    with pytest.raises(DataError, match="a statement without mainsnak") as caught:
        import_wikidata(tmp_path / "dump", tmp_path / "out")
    assert caught.value.line == 6
    assert [path.name for path in tmp_path.iterdir()] == ["dump"]
    with pytest.raises(DataError) as caught:
        import_wikidata(tmp_path / "dump", tmp_path / "out", part_size=1)
    assert "the same command continues there" in caught.value.hint
    report = import_wikidata(tmp_path / "dump", tmp_path / "out", part_size=1, on_error="skip")
    assert report.resumed_after == 5
    assert report.left_out["lines that are no entities"] == 1
    assert facts(tmp_path / "out") == ALL


def test_a_dump_without_qualifiers_is_explained(tmp_path: Path) -> None:
    triples = [entity("Q1", P31=[statement(item(f"Q{i}")) for i in range(2, 1200)])]
    write(tmp_path / "dump.json", triples)
    with pytest.raises(DataError, match="is this a truthy dump") as caught:
        import_wikidata(tmp_path / "dump.json", tmp_path / "out", on_error="skip")
    assert "qualifiers, ranks and references are missing" in caught.value.hint
    settings = WikidataSettings(without_qualifiers=True)
    assert import_wikidata(tmp_path / "dump.json", tmp_path / "out", settings).counts["facts"] == 1198


def test_nothing_to_import(tmp_path: Path) -> None:
    write(tmp_path / "dump.json", PEOPLE)
    with pytest.raises(NaryError, match="no facts to import"):
        import_wikidata(tmp_path / "dump.json", tmp_path / "out", WikidataSettings(properties=["P1"]))
    assert [path.name for path in tmp_path.iterdir()] == ["dump.json"]
