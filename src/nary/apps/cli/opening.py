"""Opening the DATA of a command: with a progress bar, and with what there is to know about it on standard error."""

from typing import TYPE_CHECKING

from nary.apps.cli.options import OnError
from nary.apps.cli.output import notice, progress_bar

if TYPE_CHECKING:
    from nary.data.dataset import Dataset


def open_data(data: str, format: str | None, on_error: OnError, quiet: bool) -> "Dataset":
    """The dataset that ``data`` means; ``quiet`` leaves the progress bar out."""
    from nary.data.load import resolve

    with progress_bar("Reading", show=not quiet) as progress:
        dataset = resolve(data, format=format, on_error=on_error.value, progress=progress)
    for note in dataset.notes:
        notice(note)
    return dataset
