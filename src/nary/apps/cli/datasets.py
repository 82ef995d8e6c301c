"""``nary datasets``: the catalog of datasets."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from nary.apps.cli.options import Json
from nary.apps.cli.output import print_json, print_table, say
from nary.progress import progress_bar


def datasets(
    name: Annotated[str | None, typer.Argument(metavar="NAME", show_default=False, help="The dataset to show.")] = None,
    json: Json = False,
) -> None:
    """List the datasets with a name, or show one: its counts next to the published ones, source and license.

    Nary looks for files in the folder NARY_DATA_HOME and in the cache, and downloads missing ones unless NARY_OFFLINE
    is set.

    Example: nary datasets jf17k
    """
    from nary.data.catalog.describe import describe, overview

    if name is None:
        _show_all(overview(), json)
    else:
        with progress_bar(f"Reading {name}", show=not json) as progress:
            described = describe(name, progress)
        _show_one(described, json)


def _show_all(listed: Sequence[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json(listed)
        return
    rows = []
    for one in listed:
        facts = sum(one["facts"].values()) if one["facts"] else None
        here = ("yes" if one["complete"] else "INCOMPLETE") if one["here"] else "no"
        arities = _range(one["arities"] or [])
        rows.append([one["name"], facts, one["entities"], one["relations"], arities, here, one["description"]])
    print_table("Datasets", ["name", "facts", "entities", "relations", "arities", "here", "description"], rows)


def _show_one(one: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(one)
        return
    say(f"{one['name']}: {one['description']}", bold=True)
    notes = one["notes"]
    if not one["complete"]:
        say(notes[0], fg="red", bold=True)
        notes = notes[1:]
    _print_counts(one, one["published"])
    lines = [("note", note) for note in notes]
    lines += [("source", source) for source in one["sources"]]
    lines += [("license", one["license"]), ("citation", one["citation"])]
    lines += [("published in", one["published"]["source"])] if one["published"] else []
    for file in one["files"]:
        lines.append(("file", f"{file['path']}  {file['sha256'] if file['verified'] else 'UNVERIFIED'}"))
    for title, text in lines:
        say(f"{title}: {text}")


def _print_counts(ours: dict[str, Any], published: dict[str, Any]) -> None:
    theirs = published.get("facts", {})
    rows = [[f"{split} facts", ours["facts"].get(split), theirs.get(split)] for split in {**ours["facts"], **theirs}]
    rows += [
        [key.replace("_", " "), ours[key], published.get(key)] for key in ("entities", "relations", "higher_arity")
    ]
    print_table("", ["", "here", "published"], rows)
    say("by arity: " + ", ".join(f"{arity}: {n:,}" for arity, n in ours["arities"].items()))
    for difference in ours["differences"]:
        what = difference["count"].replace("_", " ")
        say(f"{what} differ from the published count: {difference['why']}", fg="yellow")


def _range(arities: Sequence[int]) -> str:
    if len(arities) > 1 and (len(arities) > 3 or arities[-1] - arities[0] == len(arities) - 1):
        return f"{arities[0]}–{arities[-1]}"
    return ", ".join(str(arity) for arity in arities) or "–"
