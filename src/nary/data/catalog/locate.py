"""Locating the files of a dataset, in the folder of the user or in the cache, and verifying them."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from nary.data.catalog.entries import CatalogEntry, File, Variant
from nary.errors import DatasetError
from nary.progress import Progress, no_progress


@dataclass(frozen=True)
class Location:
    """A variant of a dataset whose files are all in ``folder``, and its labels, which may be missing."""

    entry: CatalogEntry
    variant: Variant
    folder: Path
    labels: Path | None

    def files(self) -> dict[File, Path]:
        """Return the path of every file to read."""
        paths: dict[File, Path] = {file: path_of(file, self.folder) for file in self.variant.files}
        return paths | {self.entry.labels: self.labels} if self.entry.labels and self.labels else paths

    def checksums(self) -> list[str]:
        """Return the SHA-256 of every file, after verifying it against the catalog."""
        checksums = []
        for file, path in self.files().items():
            again = f"get it from {file.address}" if file.address else "get it again"
            checksums.append(verify(file, path, str(path), f"Delete it and {again}."))
        return checksums


def cache_home() -> Path:
    """Return the folder for downloads and parsed datasets."""
    if home := os.environ.get("NARY_CACHE_HOME"):
        return Path(home)
    from platformdirs import user_cache_path  # rarely needed

    return user_cache_path("nary")


def folders(name: str) -> tuple[Path, ...]:
    """Return the folders in which the files of a dataset may be, preferred one first."""
    home = os.environ.get("NARY_DATA_HOME")
    cached = cache_home() / "data" / name
    return (Path(home) / name, cached) if home else (cached,)


def path_of(file: File, folder: Path) -> Path:
    """Return the path of ``file`` in the folder of its dataset; ``..`` is resolved without following links."""
    return Path(os.path.normpath(folder / file.path))


def find(entry: CatalogEntry) -> Location | None:
    """Find the first variant whose files are all in one folder."""
    for variant in entry.variants:
        for folder in folders(entry.name):
            if all(path_of(file, folder).is_file() for file in variant.files):
                return Location(entry, variant, folder, _labels(entry))
    return None


def locate(entry: CatalogEntry, progress: Progress = no_progress) -> Location:
    """Find the files of a dataset; download them into the cache if they are missing."""
    if location := find(entry):
        return location
    if os.environ.get("NARY_OFFLINE", "") not in ("", "0"):
        raise DatasetError(f"the files of {entry.name} are missing, and NARY_OFFLINE is set", _instructions(entry))
    for variant in entry.variants:
        if all(file.address for file in variant.files):
            from nary.data.catalog.download import download  # imports slow network modules

            labels = [entry.labels] if entry.labels and entry.labels.address else []
            folder = cache_home() / "data" / entry.name
            download([*variant.files, *labels], folder, _instructions(entry), progress)
            return Location(entry, variant, folder, _labels(entry))
    raise DatasetError(f"the files of {entry.name} are missing, and no variant can be downloaded", _instructions(entry))


def verify(file: File, path: Path, name: str, hint: str) -> str:
    """Check that ``path`` has the content of ``file`` and return its SHA-256; errors call it ``name``."""
    try:
        digest = sha256(path)
        checks = [("SHA-256", file.sha256, digest)] if file.sha256 else []
        if file.git_blob:
            checks.append(("git blob id", file.git_blob, git_blob(path)))
    except OSError as error:
        raise DatasetError(f"cannot be read: {error.strerror}", hint, name) from None
    for kind, expected, actual in checks:
        if actual != expected:
            raise DatasetError(f"is damaged or another file: its {kind} is {actual}, expected {expected}", hint, name)
    return digest


def sha256(path: Path) -> str:
    """Return the SHA-256 of the content of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def git_blob(path: Path) -> str:
    """Return the id of the content of a file in git: the SHA-1 of a header with its size, and the content."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: digest).hexdigest()


def _instructions(entry: CatalogEntry) -> str:
    """List the missing files of each variant, with the paths where they belong."""
    folder = folders(entry.name)[0]
    lines: list[str] = []
    for variant in entry.variants:
        title = "Or these" if lines else "Put these files there"
        title += f" and the files of {variant.restore_from}" if variant.restore_from else ""
        lines.append(f"{title}:" if variant.complete else f"{title}, for an incomplete dataset:")
        missing = [file for file in variant.files if not path_of(file, folder).is_file()]
        lines += [f"  {path_of(file, folder)}" + (f"  from {file.address}" if file.address else "") for file in missing]
    if len(folders(entry.name)) == 1:
        lines.append(f"Or set NARY_DATA_HOME to a folder that has them in its folder {entry.name}.")
    return "\n".join(lines)


def _labels(entry: CatalogEntry) -> Path | None:
    if entry.labels is None:
        return None
    paths = (path_of(entry.labels, folder) for folder in folders(entry.name))
    return next((path for path in paths if path.is_file()), None)
