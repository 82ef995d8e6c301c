"""``nary check``: leakage, duplicates, unseen elements and suspicious labels."""

from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.options import Data, Format, Json, OnError, OnErrorOption
from nary.apps.cli.output import open_data, print_json, print_table, say
from nary.errors import SettingError
from nary.progress import progress_bar

if TYPE_CHECKING:
    from nary.data.audit import Audit
    from nary.data.dataset import Dataset
    from nary.runs.suspects import Suspect


def check(
    data: Data,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 1 if the data are not clean.")] = False,
    suspicious: Annotated[
        int | None,
        typer.Option(
            "--suspicious",
            metavar="N",
            help="Also list the N most suspicious facts, each scored by rules counted without it.",
        ),
    ] = None,
    folds: Annotated[
        int,
        typer.Option("--folds", metavar="N", help="With --suspicious: the number of folds, each scored by the others."),
    ] = 20,
    format: Format = None,
    on_error: OnErrorOption = OnError.stop,
    as_json: Json = False,
) -> None:
    """Look for problems that make metrics misleading: leakage from train to valid or test, duplicates, entities and
    relations that do not occur in train, and suspicious labels. Warns about labels shared by several entities, numbers
    and dates read as entities, and relations missing from a split.

    Example: nary check my-facts/ --strict

    Example: nary check my-facts/ --suspicious 20
    """
    from nary.data.audit import audit

    if suspicious is not None and suspicious < 1:
        raise SettingError(f"--suspicious {suspicious}", "Ask for one or more.")
    dataset = open_data(data, format, on_error, quiet=as_json)
    report = audit(dataset)
    suspects = None if suspicious is None else _find_suspects(dataset, suspicious, folds, show=not as_json)
    if as_json:
        more = {} if suspects is None else {"suspicious": [suspect.as_dict() for suspect in suspects]}
        print_json({**report.as_dict(), **more})
    else:
        _print(dataset, report)
        if suspects is not None:
            _print_suspects(suspects)
    if strict and not report.clean:
        raise typer.Exit(1)


def _print(dataset: "Dataset", report: "Audit") -> None:
    rows = []
    for split, finding, number in _findings(report):
        if split in dataset.splits:
            rows.append([f"{split}: {finding}", number, f"{number / max(1, len(dataset[split])):>6.1%}"])
    print_table(f"{dataset.name}: facts", ["finding", "facts", "of the split"], rows)
    say()
    print_table("", ["in all splits", "number"], _overall(report))
    if report.suspicious_labels:
        say()
        labels = [
            [reason, finding["count"], ", ".join(repr(name[:40]) for name in finding["examples"])]
            for reason, finding in report.suspicious_labels.items()
        ]
        print_table("Suspicious labels", ["reason", "labels", "examples"], labels)
    if report.warnings:
        say()
        warned = [
            [each["count"], each["message"], ", ".join(repr(name[:40]) for name in each["examples"])]
            for each in report.warnings
        ]
        print_table("Warnings", ["number", "warning", "examples"], warned)
    say()
    _print_verdict(dataset, report)


def _find_suspects(dataset: "Dataset", limit: int, folds: int, *, show: bool) -> "list[Suspect]":
    from nary.runs.suspects import find_suspects

    with progress_bar("Scoring", show=show) as progress:
        return find_suspects(dataset, limit, folds, progress)


def _print_suspects(suspects: "list[Suspect]") -> None:
    rows = [
        [
            f"{suspect.score:.1f}",
            suspect.label,
            *(f"{odd.position}: {odd.label} ({odd.percentile:.1%})" for odd in suspect.elements[:1]),
            *(odd.expected_label for odd in suspect.elements[:1]),
        ]
        for suspect in suspects
    ]
    say()
    print_table("Suspicious facts", ["score", "fact", "worst element", "predicted"], rows)


def _findings(report: "Audit") -> list[tuple[str, str, int]]:
    """A split, a finding and its number of facts."""
    return [
        *((split, "duplicates of an earlier fact", n) for split, n in report.duplicates.items()),
        ("valid", "the whole fact is in train", report.valid_in_train),
        ("valid", "the primary triple is in train", report.valid_primary_in_train),
        ("valid", "an entity is not in train", report.valid_unseen),
        ("valid", "a relation or attribute is not in train", report.valid_unseen_relations),
        ("test", "the whole fact is in train", report.test_in_train),
        ("test", "the primary triple is in train", report.test_primary_in_train),
        ("test", "the whole fact is in valid", report.test_in_valid),
        ("test", "an entity is not in train", report.test_unseen),
        ("test", "a relation or attribute is not in train", report.test_unseen_relations),
        ("test", "an entity is in neither train nor valid", report.test_against_train_and_valid["unseen"]),
    ]


def _overall(report: "Audit") -> list[tuple[str, int]]:
    return [
        ("entities that are not in train", report.unseen_entities),
        ("relations and attributes that are not in train", report.unseen_relations),
        ("facts with the same subject and object", report.subject_is_object),
        ("facts with a repeated qualifier", report.repeated_qualifiers),
        ("suspicious labels", sum(finding["count"] for finding in report.suspicious_labels.values())),
    ]


def _print_verdict(dataset: "Dataset", report: "Audit") -> None:
    if not {"valid", "test"} & set(dataset.splits):
        say("There is only one split, so leakage was not checked; see nary split.")
    if report.clean:
        say("Clean: no duplicates, no leakage, no unseen names, no suspicious labels.", fg="green", bold=True)
        return
    overlap = report.valid_primary_in_train + report.test_against_train_and_valid["primary"]
    reasons = {
        "duplicates": sum(report.duplicates.values()),
        "valid or test facts whose primary triple is in another split": overlap,
        "entities or relations that are not in train": report.unseen_entities + report.unseen_relations,
        "suspicious labels": len(report.suspicious_labels),
    }
    say(f"Not clean: {'; '.join(reason for reason, n in reasons.items() if n)}.", fg="red", bold=True)
