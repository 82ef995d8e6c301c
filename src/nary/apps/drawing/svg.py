"""The picture of a fact as SVG: plain text with a background of its own, so that it is legible on a dark page, too."""

from xml.sax.saxutils import escape

from nary.apps.drawing.labels import clean
from nary.apps.drawing.picture import Box, Curve, Entry, Picture, Point
from nary.apps.drawing.style import (
    CAPTION_SIZE,
    EDGES,
    FONTS,
    FRAME,
    GAP_SAMPLE,
    LEGEND_SIZE,
    PAPER,
    QUIET,
    Stroke,
    paint,
)


def to_svg(picture: Picture) -> str:
    """The text of the file; equal pictures give equal texts."""
    (x, y), width, height = picture.corner, picture.width, picture.height
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{_n(x)} {_n(y)} {_n(width)} {_n(height)}" '
            f'width="{_n(width)}" height="{_n(height)}" role="img" font-family="{FONTS}" stroke-linecap="round">',
            f"<title>{_text(picture.title)}</title>",
            _rectangle((x + 0.5, y + 0.5), (width - 1, height - 1), 14, PAPER, Stroke(FRAME, 1)),
            *(_curve(curve) for curve in picture.curves),
            *(_box(box) for box in picture.boxes),
            *(_entry(entry) for entry in picture.legend),
            "</svg>\n",
        ]
    )


def _curve(curve: Curve) -> str:
    start, *rest = (f"{_n(x)} {_n(y)}" for x, y in curve.points)
    return f'<path d="M {start} C {", ".join(rest)}" fill="none" {_stroke(EDGES[curve.label])}/>'


def _box(box: Box) -> str:
    vertex, look, x = box.vertex, paint(box.vertex), box.middle[0]
    whole = "missing" if vertex.is_gap else str(vertex.element)
    lines = zip(box.lines, box.baselines, strict=True)
    return "\n".join(
        [
            '<g text-anchor="middle" font-weight="500">',
            f"<title>{_text(f'{vertex.position}: {whole}')}</title>",
            _rectangle((box.left, box.top), (box.width, box.height), box.radius, look.fill, look.border),
            _write((x, box.caption_baseline), str(vertex.position), CAPTION_SIZE, look.caption),
            *(_write((x, y), line, look.label_size, look.label) for line, y in lines),
            "</g>",
        ]
    )


def _entry(entry: Entry) -> str:
    (x, y), (end, _) = entry.start, entry.end
    if entry.label is None:
        sample = _rectangle((x, y - 7), (end - x, 14), 7, "#ffffff", GAP_SAMPLE)
    else:
        sample = f'<path d="M {_n(x)} {_n(y)} H {_n(end)}" {_stroke(EDGES[entry.label])}/>'
    return f"{sample}\n{_write(entry.text_start, entry.text, LEGEND_SIZE, QUIET)}"


def _rectangle(corner: Point, size: tuple[float, float], radius: float, fill: str, border: Stroke) -> str:
    return (
        f'<rect x="{_n(corner[0])}" y="{_n(corner[1])}" width="{_n(size[0])}" height="{_n(size[1])}" '
        f'rx="{_n(radius)}" fill="{fill}" {_stroke(border)}/>'
    )


def _write(start: Point, text: str, size: float, color: str) -> str:
    return f'<text x="{_n(start[0])}" y="{_n(start[1])}" font-size="{_n(size)}" fill="{color}">{_text(text)}</text>'


def _stroke(stroke: Stroke) -> str:
    dash = f' stroke-dasharray="{" ".join(map(_n, stroke.dash))}"' if stroke.dash else ""
    opacity = f' stroke-opacity="{_n(stroke.opacity)}"' if stroke.opacity < 1 else ""
    return f'stroke="{stroke.color}" stroke-width="{_n(stroke.width)}"{dash}{opacity}'


def _text(text: str) -> str:
    return escape(clean(text))


def _n(number: float) -> str:
    """A number with no more digits than the eye can tell."""
    return f"{round(number, 1) + 0.0:g}"  # adding zero leaves no negative zero
