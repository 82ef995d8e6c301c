"""Downloading the files of a dataset, each whole and checked, or not at all."""

from collections.abc import Sequence
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import IO
from urllib.error import URLError
from urllib.request import Request, urlopen

from filelock import FileLock

from nary.data.catalog.checksums import checked
from nary.data.catalog.entries import File
from nary.data.catalog.locate import place
from nary.data.files import CHUNK, atomic_path
from nary.errors import DatasetError, OutputError
from nary.progress import Progress, no_progress
from nary.version import __version__

TIMEOUT = 30.0
"""Seconds without a byte after which a server is given up."""


def download(files: Sequence[File], folder: Path, hint: str, progress: Progress = no_progress) -> None:
    """Fetch the files that are not yet in ``folder``. Of several processes one works, the others wait for it."""
    lock = folder.parent / f".{folder.name}.lock"
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(lock):
            for file in files:
                if not (target := place(folder, file)).is_file():
                    _fetch(file, target, hint, progress)
    except OSError as error:
        raise OutputError(
            f"cannot write to {folder}: {error.strerror or error}", "Set NARY_CACHE_HOME to a folder of your own."
        ) from None


def _fetch(file: File, target: Path, hint: str, progress: Progress) -> None:
    address = str(file.address)
    with atomic_path(target) as temporary:
        try:
            request = Request(address, headers={"User-Agent": f"nary/{__version__}"})
            with urlopen(request, timeout=TIMEOUT) as answer, temporary.open("wb") as out:
                _copy(answer, out, progress)
        except (OSError, HTTPException) as error:
            why = error.reason if isinstance(error, URLError) else str(error) or type(error).__name__
            raise DatasetError(f"{target.name} could not be downloaded from {address}: {why}", hint) from None
        checked(file, temporary, address, hint)


def _copy(answer: HTTPResponse, out: IO[bytes], progress: Progress) -> None:
    length = answer.headers.get("Content-Length", "")
    total = int(length) if length.isdecimal() else None
    done = 0
    while piece := answer.read(CHUNK):
        out.write(piece)
        done += len(piece)
        progress(done, total)
    if total is not None and done != total:
        raise HTTPException(f"it ends after {done:,} of {total:,} bytes")
