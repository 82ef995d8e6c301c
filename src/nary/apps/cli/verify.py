"""``nary verify``: check the files of a run, a model or a mapped dataset against their checksums."""

from pathlib import Path
from typing import Annotated

import typer

from nary.apps.cli.options import Json
from nary.apps.cli.output import notice, print_json, print_table
from nary.errors import SettingError


def verify(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", show_default=False, help="A run folder, a model folder or a mapped dataset."),
    ],
    update: Annotated[
        bool, typer.Option("--update", help="Accept all files as they are and write new checksums.")
    ] = False,
    json: Json = False,
) -> None:
    """Compare every file with its checksum in manifest.json. Exit code 1 if a file was changed or is missing.

    Example: nary verify runs/nobel-gran
    """
    from nary.files.manifest import MANIFEST, verify, write_manifest
    from nary.runs.run_folder import verified_folders

    folders = verified_folders(folder)
    if update:
        for inner in folders:
            write_manifest(inner)
    elif not (folders[-1] / MANIFEST).exists():
        raise SettingError(f"{folder} has no {MANIFEST}", "nary verify --update makes one for the files as they are.")
    checks = verify(folder)
    wrong = [check for check in checks if check.state in ("changed", "missing")]
    if json:
        print_json({"folder": str(folder), "ok": not wrong, "files": {check.name: check.state for check in checks}})
    else:
        print_table(str(folder), ["file", "state"], [[check.name, check.state] for check in checks])
        if wrong:
            notice(f"{len(wrong)} of {len(checks)} files are not as they were written")
    raise typer.Exit(1 if wrong else 0)
