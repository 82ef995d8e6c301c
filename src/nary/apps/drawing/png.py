"""The picture of a fact as PNG, drawn with matplotlib: the same layout and colors as the SVG."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nary.apps.drawing.labels import clean
from nary.apps.drawing.picture import Box, Entry, Picture, Point
from nary.apps.drawing.style import (
    CAPTION_SIZE,
    EDGES,
    FRAME,
    GAP_SAMPLE,
    LEGEND_SIZE,
    PAPER,
    QUIET,
    Stroke,
    paint,
)
from nary.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SCALE = 2  # pixels of the file for a pixel of the layout
_INWARDS = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)])  # from the corners of a rectangle, clockwise


def write_png(picture: Picture, path: Path) -> None:
    """Draw ``picture`` into the file ``path``."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("Drawing a PNG picture", "plots") from None

    (x, y), width, height = picture.corner, picture.width, picture.height
    figure = Figure(figsize=(width / 72, height / 72), dpi=72 * _SCALE)  # its points are pixels of the layout
    axes = figure.add_axes((0, 0, 1, 1), xlim=(x, x + width), ylim=(y + height, y))
    axes.set_axis_off()
    _rectangle(axes, (x + 0.5, y + 0.5), (width - 1, height - 1), 14, PAPER, Stroke(FRAME, 1))
    for curve in picture.curves:
        _line(axes, curve.points, EDGES[curve.label])
    for box in picture.boxes:
        _box(axes, box)
    for entry in picture.legend:
        _entry(axes, entry)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # labels in a script that the font lacks
        figure.savefig(path, format="png", facecolor="none")


def _box(axes: "Axes", box: Box) -> None:
    look, x = paint(box.vertex), box.middle[0]
    _rectangle(axes, (box.left, box.top), (box.width, box.height), box.radius, look.fill, look.border)
    _write(axes, (x, box.caption_baseline), str(box.vertex.position), size=CAPTION_SIZE, color=look.caption)
    for line, y in zip(box.lines, box.baselines, strict=True):
        _write(axes, (x, y), line, size=look.label_size, color=look.label)


def _entry(axes: "Axes", entry: Entry) -> None:
    if entry.label is None:
        corner = (entry.start[0], entry.start[1] - 7)
        _rectangle(axes, corner, (entry.end[0] - entry.start[0], 14), 7, "#ffffff", GAP_SAMPLE)
    else:
        _line(axes, (entry.start, entry.start, entry.end, entry.end), EDGES[entry.label])
    _write(axes, entry.text_start, entry.text, size=LEGEND_SIZE, color=QUIET, ha="left")


def _line(axes: "Axes", points: tuple[Point, Point, Point, Point], stroke: Stroke) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline

    outline = Outline(points, [Outline.MOVETO, Outline.CURVE4, Outline.CURVE4, Outline.CURVE4])
    axes.add_patch(PathPatch(outline, fill=False, **_stroke(stroke)))


def _rectangle(
    axes: "Axes", corner: Point, size: tuple[float, float], radius: float, fill: str, border: Stroke
) -> None:
    """A rectangle with round corners; matplotlib's own has corners that are no circles."""
    from matplotlib.patches import Polygon

    left, top, right, bottom = *corner, corner[0] + size[0], corner[1] + size[1]
    centers = [(left, top), (right, top), (right, bottom), (left, bottom)] + radius * _INWARDS
    quarters = np.pi / 2 * (np.arange(4)[:, None] + 2 + np.linspace(0, 1, 24))  # [4, 24] angles, clockwise
    points = centers[:, None] + radius * np.stack([np.cos(quarters), np.sin(quarters)], axis=-1)
    axes.add_patch(Polygon(points.reshape(-1, 2), facecolor=fill, **_stroke(border)))


def _write(axes: "Axes", start: Point, text: str, **look: Any) -> None:
    axes.text(*start, clean(text), parse_math=False, **{"ha": "center", "va": "baseline", **look})


def _stroke(stroke: Stroke) -> dict[str, Any]:
    """The settings of a patch; matplotlib counts dashes in widths of the line."""
    dash = (0, tuple(length / stroke.width for length in stroke.dash)) if stroke.dash else "-"
    color = (stroke.color, stroke.opacity)
    return {"edgecolor": color, "linewidth": stroke.width, "linestyle": dash, "capstyle": "round"}
