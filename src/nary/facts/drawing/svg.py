"""Write a picture as SVG, with a background so that it is legible on a dark page, too."""

from xml.sax.saxutils import escape

from nary.facts.drawing.layout import clean_text
from nary.facts.drawing.picture import (
    BACKGROUND,
    CAPTION_SIZE,
    EDGE_STYLES,
    FONTS,
    FRAME,
    GAP_STYLE,
    LEGEND_SIZE,
    MUTED,
    Box,
    Curve,
    LegendEntry,
    Picture,
    Point,
    Stroke,
    vertex_style,
)


def picture_svg(picture: Picture) -> str:
    """The content of the SVG file; equal pictures give equal files."""
    (x, y), width, height = picture.corner, picture.width, picture.height
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{_n(x)} {_n(y)} {_n(width)} {_n(height)}" '
            f'width="{_n(width)}" height="{_n(height)}" role="img" font-family="{FONTS}" stroke-linecap="round">',
            f"<title>{_escape(picture.title)}</title>",
            _rectangle((x + 0.5, y + 0.5), (width - 1, height - 1), 14, BACKGROUND, Stroke(FRAME, 1)),
            *(_curve(curve) for curve in picture.curves),
            *(_box(box) for box in picture.boxes),
            *(_entry(entry) for entry in picture.legend),
            "</svg>\n",
        ]
    )


def _curve(curve: Curve) -> str:
    start, *rest = (f"{_n(x)} {_n(y)}" for x, y in curve.points)
    return f'<path d="M {start} C {", ".join(rest)}" fill="none" {_stroke(EDGE_STYLES[curve.label])}/>'


def _box(box: Box) -> str:
    vertex, style, x = box.vertex, vertex_style(box.vertex), box.middle[0]
    element = "missing" if vertex.is_gap else str(vertex.element)
    lines = zip(box.lines, box.baselines, strict=True)
    return "\n".join(
        [
            '<g text-anchor="middle" font-weight="500">',
            f"<title>{_escape(f'{vertex.position}: {element}')}</title>",
            _rectangle((box.left, box.top), (box.width, box.height), box.radius, style.fill, style.border),
            _text((x, box.caption_baseline), str(vertex.position), CAPTION_SIZE, style.caption),
            *(_text((x, y), line, style.label_size, style.label) for line, y in lines),
            "</g>",
        ]
    )


def _entry(entry: LegendEntry) -> str:
    (x, y), (end, _) = entry.start, entry.end
    if entry.label is None:
        sample = _rectangle((x, y - 7), (end - x, 14), 7, "#ffffff", GAP_STYLE)
    else:
        sample = f'<path d="M {_n(x)} {_n(y)} H {_n(end)}" {_stroke(EDGE_STYLES[entry.label])}/>'
    return f"{sample}\n{_text(entry.text_start, entry.text, LEGEND_SIZE, MUTED)}"


def _rectangle(corner: Point, size: tuple[float, float], radius: float, fill: str, border: Stroke) -> str:
    return (
        f'<rect x="{_n(corner[0])}" y="{_n(corner[1])}" width="{_n(size[0])}" height="{_n(size[1])}" '
        f'rx="{_n(radius)}" fill="{fill}" {_stroke(border)}/>'
    )


def _text(start: Point, text: str, size: float, color: str) -> str:
    return f'<text x="{_n(start[0])}" y="{_n(start[1])}" font-size="{_n(size)}" fill="{color}">{_escape(text)}</text>'


def _stroke(stroke: Stroke) -> str:
    dash = f' stroke-dasharray="{" ".join(map(_n, stroke.dash))}"' if stroke.dash else ""
    opacity = f' stroke-opacity="{_n(stroke.opacity)}"' if stroke.opacity < 1 else ""
    return f'stroke="{stroke.color}" stroke-width="{_n(stroke.width)}"{dash}{opacity}'


def _escape(text: str) -> str:
    return escape(clean_text(text))


def _n(number: float) -> str:
    """Format a number with one decimal at most."""
    return f"{round(number, 1) + 0.0:g}"  # adding zero leaves no negative zero
