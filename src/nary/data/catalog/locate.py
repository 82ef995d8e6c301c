"""Where the files of a dataset are: in the user's own folder, in the cache, or still to be downloaded."""

import os
from dataclasses import dataclass
from pathlib import Path

from nary.data.catalog.checksums import checked
from nary.data.catalog.entries import Entry, File, Variant
from nary.errors import DatasetError
from nary.progress import Progress, no_progress


@dataclass(frozen=True)
class Location:
    """The variant of a dataset whose files are all in ``folder``, and its labels, which may be missing."""

    entry: Entry
    variant: Variant
    folder: Path
    labels: Path | None

    def files(self) -> dict[File, Path]:
        """Every file that is read, and where it is."""
        found: dict[File, Path] = {file: place(self.folder, file) for file in self.variant.files}
        return found | {self.entry.labels: self.labels} if self.entry.labels and self.labels else found

    def checksums(self) -> list[str]:
        """The SHA-256 of every file; a file that is not the one the catalog means is an error."""
        found = []
        for file, path in self.files().items():
            again = f"get it from {file.address}" if file.address else "get it again"
            found.append(checked(file, path, str(path), f"Delete it and {again}."))
        return found


def cache_home() -> Path:
    """The folder for what can be made or fetched again."""
    if given := os.environ.get("NARY_CACHE_HOME"):
        return Path(given)
    from platformdirs import user_cache_path  # only asked where nobody said anything else

    return user_cache_path("nary")


def folders(name: str) -> tuple[Path, ...]:
    """The folders in which the files of a dataset may be; the first is the one to put them into."""
    home = os.environ.get("NARY_DATA_HOME")
    cached = cache_home() / "data" / name
    return (Path(home) / name, cached) if home else (cached,)


def place(folder: Path, file: File) -> Path:
    """Where ``file`` is if the dataset's folder is ``folder``; a neighbor's file is beside it, whatever links say."""
    return Path(os.path.normpath(folder / file.path))


def find(entry: Entry) -> Location | None:
    """The first variant whose files are all in one folder."""
    for variant in entry.variants:
        for folder in folders(entry.name):
            if all(place(folder, file).is_file() for file in variant.files):
                return Location(entry, variant, folder, _labels(entry))
    return None


def locate(entry: Entry, progress: Progress = no_progress) -> Location:
    """The files of a dataset, downloaded into the cache if need be."""
    if found := find(entry):
        return found
    if os.environ.get("NARY_OFFLINE", "") not in ("", "0"):
        raise DatasetError(f"the files of {entry.name} are not here, and NARY_OFFLINE is set", what_to_do(entry))
    for variant in entry.variants:
        if all(file.address for file in variant.files):
            from nary.data.catalog.download import download  # the network modules are slow to import

            labels = [entry.labels] if entry.labels and entry.labels.address else []
            folder = cache_home() / "data" / entry.name
            download([*variant.files, *labels], folder, what_to_do(entry), progress)
            return Location(entry, variant, folder, _labels(entry))
    raise DatasetError(f"the files of {entry.name} are not here, and nobody publishes them", what_to_do(entry))


def what_to_do(entry: Entry) -> str:
    """Which files to put where, for each variant, as far as they are missing there."""
    folder = folders(entry.name)[0]
    lines: list[str] = []
    for variant in entry.variants:
        title = "Or these" if lines else "Put these files there"
        title += f" and the files of {variant.restore_from}" if variant.restore_from else ""
        lines.append(f"{title}:" if variant.complete else f"{title}, for an incomplete dataset:")
        missing = [file for file in variant.files if not place(folder, file).is_file()]
        lines += [f"  {place(folder, file)}" + (f"  from {file.address}" if file.address else "") for file in missing]
    if len(folders(entry.name)) == 1:
        lines.append(f"Or set NARY_DATA_HOME to a folder that has them in its folder {entry.name}.")
    return "\n".join(lines)


def _labels(entry: Entry) -> Path | None:
    if entry.labels is None:
        return None
    places = (place(folder, entry.labels) for folder in folders(entry.name))
    return next((path for path in places if path.is_file()), None)
