"""HTML for notebooks: tables with bars and notes. All text is escaped, and styles are inline: no page is assumed."""

import html
from collections.abc import Sequence

from nary.tables import Strong, Table, escape_controls

_BAR_WIDTH = 90  # pixels
_CELL = "padding: 2px 10px; vertical-align: top; text-align: {};"
_UNBROKEN = "white-space: nowrap;"
_NOTE = "font-size: 90%; opacity: 0.75;"


class Bar(str):
    """A cell with a bar before its text; ``share`` is its length, 0 to 1."""

    __slots__ = ("share",)
    share: float

    def __new__(cls, text: str, share: float) -> "Bar":
        """A cell that says ``text``."""
        bar = super().__new__(cls, text)
        bar.share = min(max(share, 0.0), 1.0)
        return bar


def escape(text: str) -> str:
    """``text`` without meaning in HTML, its control characters written out."""
    return html.escape(escape_controls(text))


def table_html(table: Table, caption: str = "", notes: Sequence[str] = ()) -> str:
    """``table`` with a caption above and notes below."""
    cells = [_CELL.format(column.align) for column in table.columns]
    titles = [escape(column.title) for column in table.columns]
    head = "".join(f'<th style="{style}">{title}</th>' for style, title in zip(cells, titles, strict=True))
    body = ""
    for row in table.rows:
        content = zip(cells, map(_cell, row), strict=True)
        body += "<tr>" + "".join(f'<td style="{style}">{cell}</td>' for style, cell in content) + "</tr>"
    return (
        "<div>"
        + (f"<div><strong>{escape(caption)}</strong></div>" if caption else "")
        + f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        + "".join(f'<div style="{_NOTE}">{escape(note)}</div>' for note in notes)
        + "</div>"
    )


def _cell(cell: str) -> str:
    if isinstance(cell, Bar):
        bar = (
            f'<span style="display: inline-block; width: {_BAR_WIDTH}px; background: rgba(128, 128, 128, 0.15);">'
            f'<span style="display: block; width: {cell.share:.1%}; height: 0.7em; background: #3b7ddd;"></span></span>'
        )
        return f'<span style="{_UNBROKEN}">{bar} {escape(cell)}</span>'
    return f"<strong>{escape(cell)}</strong>" if isinstance(cell, Strong) else escape(cell)
