"""Figures drawn with matplotlib, which comes with the extra ``plots``."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from nary.errors import MissingExtraError, OutputError
from nary.files.writing import atomic_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FORMATS = ("png", "svg")


def new_figure(path: Path, width: float, height: float) -> "Figure":
    """An empty figure to be saved at ``path``, which ends in .png or .svg; sizes in inches."""
    if path.suffix.lower().removeprefix(".") not in _FORMATS:
        raise OutputError(f"cannot draw {path.name}", "Use a file name that ends in .png or .svg.")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("Drawing a picture", "plots") from None
    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: "Figure", path: Path) -> None:
    """Write the figure without timestamps or random ids, so that equal data give equal files."""
    import matplotlib

    kind = path.suffix.lower().removeprefix(".")
    metadata = {"Date": None} if kind == "svg" else None
    with atomic_path(path) as temporary, warnings.catch_warnings(), matplotlib.rc_context({"svg.hashsalt": "nary"}):
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # names in a script that the font lacks
        figure.savefig(temporary, format=kind, dpi=150, metadata=metadata)
