"""Downloading the files of a dataset, verified and atomically."""

from collections.abc import Sequence
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import IO
from urllib.error import URLError
from urllib.request import Request, urlopen

from filelock import FileLock

from nary.data.catalog.entries import File
from nary.data.catalog.locate import path_of, verify
from nary.data.files import CHUNK
from nary.errors import DatasetError, OutputError
from nary.files.writing import atomic_path
from nary.progress import Progress, no_progress
from nary.version import __version__

TIMEOUT = 30.0
"""Seconds to wait for the next bytes of a server."""


def download(files: Sequence[File], folder: Path, hint: str, progress: Progress = no_progress) -> None:
    """Download the files that are not yet in ``folder``. Of several processes, one downloads and the others wait."""
    lock = folder.parent / f".{folder.name}.lock"
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(lock):
            for file in files:
                if not (target := path_of(file, folder)).is_file():
                    _fetch(file, target, hint, progress)
    except OSError as error:
        raise OutputError(
            f"cannot write to {folder}: {error.strerror or error}",
            "Set NARY_CACHE_HOME to a folder that can be written.",
        ) from None


def _fetch(file: File, target: Path, hint: str, progress: Progress) -> None:
    address = str(file.address)
    with atomic_path(target) as temporary:
        try:
            request = Request(address, headers={"User-Agent": f"nary/{__version__}"})
            with urlopen(request, timeout=TIMEOUT) as response, temporary.open("wb") as out:
                _copy(response, out, progress)
        except (OSError, HTTPException) as error:
            reason = error.reason if isinstance(error, URLError) else str(error) or type(error).__name__
            raise DatasetError(f"{target.name} could not be downloaded from {address}: {reason}", hint) from None
        verify(file, temporary, address, hint)


def _copy(response: HTTPResponse, out: IO[bytes], progress: Progress) -> None:
    length = response.headers.get("Content-Length", "")
    total = int(length) if length.isdecimal() else None
    done = 0
    while piece := response.read(CHUNK):
        out.write(piece)
        done += len(piece)
        progress(done, total)
    if total is not None and done != total:
        raise HTTPException(f"it ends after {done:,} of {total:,} bytes")
