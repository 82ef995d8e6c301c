"""Draw a picture as PNG with matplotlib, with the layout and colors of the SVG."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nary.errors import MissingExtraError
from nary.facts.drawing.layout import clean_text
from nary.facts.drawing.picture import (
    BACKGROUND,
    CAPTION_SIZE,
    EDGE_STYLES,
    FRAME,
    GAP_STYLE,
    LEGEND_SIZE,
    MUTED,
    Box,
    LegendEntry,
    Picture,
    Point,
    Stroke,
    vertex_style,
)

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
    _rectangle(axes, (x + 0.5, y + 0.5), (width - 1, height - 1), 14, BACKGROUND, Stroke(FRAME, 1))
    for curve in picture.curves:
        _line(axes, curve.points, EDGE_STYLES[curve.label])
    for box in picture.boxes:
        _box(axes, box)
    for entry in picture.legend:
        _entry(axes, entry)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # labels in a script that the font lacks
        figure.savefig(path, format="png", facecolor="none")


def _box(axes: "Axes", box: Box) -> None:
    style, x = vertex_style(box.vertex), box.middle[0]
    _rectangle(axes, (box.left, box.top), (box.width, box.height), box.radius, style.fill, style.border)
    _text(axes, (x, box.caption_baseline), str(box.vertex.position), size=CAPTION_SIZE, color=style.caption)
    for line, y in zip(box.lines, box.baselines, strict=True):
        _text(axes, (x, y), line, size=style.label_size, color=style.label)


def _entry(axes: "Axes", entry: LegendEntry) -> None:
    if entry.label is None:
        corner = (entry.start[0], entry.start[1] - 7)
        _rectangle(axes, corner, (entry.end[0] - entry.start[0], 14), 7, "#ffffff", GAP_STYLE)
    else:
        _line(axes, (entry.start, entry.start, entry.end, entry.end), EDGE_STYLES[entry.label])
    _text(axes, entry.text_start, entry.text, size=LEGEND_SIZE, color=MUTED, ha="left")


def _line(axes: "Axes", points: tuple[Point, Point, Point, Point], stroke: Stroke) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline

    outline = Outline(points, [Outline.MOVETO, Outline.CURVE4, Outline.CURVE4, Outline.CURVE4])
    axes.add_patch(PathPatch(outline, fill=False, **_stroke(stroke)))


def _rectangle(
    axes: "Axes", corner: Point, size: tuple[float, float], radius: float, fill: str, border: Stroke
) -> None:
    """Draw a rectangle with circular corners, which matplotlib's rounded box does not have."""
    from matplotlib.patches import Polygon

    left, top, right, bottom = *corner, corner[0] + size[0], corner[1] + size[1]
    centers = [(left, top), (right, top), (right, bottom), (left, bottom)] + radius * _INWARDS
    quarters = np.pi / 2 * (np.arange(4)[:, None] + 2 + np.linspace(0, 1, 24))  # [4, 24] angles, clockwise
    points = centers[:, None] + radius * np.stack([np.cos(quarters), np.sin(quarters)], axis=-1)
    axes.add_patch(Polygon(points.reshape(-1, 2), facecolor=fill, **_stroke(border)))


def _text(axes: "Axes", start: Point, text: str, **options: Any) -> None:
    axes.text(*start, clean_text(text), parse_math=False, **{"ha": "center", "va": "baseline", **options})


def _stroke(stroke: Stroke) -> dict[str, Any]:
    """The arguments of a patch; matplotlib measures dashes in line widths."""
    dash = (0, tuple(length / stroke.width for length in stroke.dash)) if stroke.dash else "-"
    color = (stroke.color, stroke.opacity)
    return {"edgecolor": color, "linewidth": stroke.width, "linestyle": dash, "capstyle": "round"}
