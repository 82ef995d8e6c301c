"""Tables of text: aligned columns for a terminal, Markdown and LaTeX."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

_GAP = 2
_NARROWEST = 8  # columns are not wrapped below this width
_INVISIBLE = ("Cc", "Zl", "Zp")  # control characters and line separators
_LAYOUT = "\n\t"
_DIRECTIONS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # make text look like other text
_ZERO_WIDTH = ("Mn", "Me", "Cf")
_MARKDOWN = str.maketrans({mark: "\\" + mark for mark in "\\`*_{}[]<>()#+-.!|~&$:@^="})
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": "$<$",
        ">": "$>$",
        "|": "$|$",
        **{mark: "\\" + mark for mark in "&%$#_{}"},
    }
)


class Strong(str):
    """An emphasized cell: followed by a star in plain text, bold in Markdown and LaTeX."""

    __slots__ = ()


@dataclass(frozen=True)
class Column:
    """The title of a column and the alignment of its cells."""

    title: str
    align: Literal["left", "right"] = "left"


def left(*titles: str) -> list[Column]:
    """Left-aligned columns."""
    return [Column(title) for title in titles]


def right(*titles: str) -> list[Column]:
    """Right-aligned columns."""
    return [Column(title, "right") for title in titles]


@dataclass(frozen=True)
class Table:
    """Rows of strings, one for each column."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]

    def text(self, width: int | None = None) -> str:
        """Plain text; with ``width``, cells are wrapped so that lines fit a terminal of that many columns."""
        return "\n".join(self.lines(width))

    def lines(self, width: int | None = None) -> list[str]:
        """The rows of :meth:`text`, titles first; a row that is wrapped holds line breaks."""
        rows = [[_on_one_line(cell) for cell in row] for row in (self._titles, *self.rows)]
        by_column = [self._starred(column, i) for i, column in enumerate(zip(*rows, strict=True))]
        widths = _fit([max(map(display_width, column)) for column in by_column], width)
        return [self._aligned(row, widths) for row in zip(*by_column, strict=True)]

    def markdown(self) -> str:
        """A Markdown table. Cells may hold markup; pass untrusted text through :func:`escape_markdown`."""
        rule = ["---" if column.align == "left" else "--:" for column in self.columns]
        rows = [[f"**{cell}**" if isinstance(cell, Strong) else cell for cell in row] for row in self.rows]
        return "\n".join(f"| {' | '.join(map(_on_one_line, row))} |" for row in (self._titles, rule, *rows))

    def latex(self, note: str = "") -> str:
        """A LaTeX ``tabular`` that needs no packages, with ``note`` in small print below; all text is escaped."""
        alignment = "".join(column.align[0] for column in self.columns)
        lines = [rf"\begin{{tabular}}{{{alignment}}}", r"\hline", _latex_row(self._titles), r"\hline"]
        lines += [*map(_latex_row, self.rows), r"\hline", r"\end{tabular}"]
        lines += [rf"\par{{\footnotesize {escape_latex(note)}}}"] if note else []
        return "\n".join(lines) + "\n"

    @property
    def _titles(self) -> list[str]:
        return [column.title for column in self.columns]

    def _starred(self, cells: Sequence[str], number: int) -> list[str]:
        """The title and cells of a column, with room for the stars of emphasized cells."""
        strong = [False, *(isinstance(row[number], Strong) for row in self.rows)]
        if not any(strong):
            return list(cells)
        return [f"{cell}{'*' if starred else ' '}" for cell, starred in zip(cells, strong, strict=True)]

    def _aligned(self, row: Sequence[str], widths: Sequence[int]) -> str:
        wrapped = [_wrap(cell, width) for cell, width in zip(row, widths, strict=True)]
        lines = []
        for parts in zip_longest(*wrapped, fillvalue=""):
            padded = map(_pad, parts, widths, (column.align for column in self.columns))
            lines.append((" " * _GAP).join(padded).rstrip())
        return "\n".join(lines)


def display_width(text: str) -> int:
    """The number of terminal columns that ``text`` takes; East Asian characters take two."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.category(character) in _ZERO_WIDTH for character in text)


def escape_controls(text: str) -> str:
    r"""``text`` with control characters written out (``\x1b``), except line ends and tabs."""
    if text.isprintable():
        return text
    return "".join(_written_out(mark) if mark not in _LAYOUT else mark for mark in text)


def _written_out(mark: str) -> str:
    if unicodedata.category(mark) in _INVISIBLE or mark in _DIRECTIONS:
        return mark.encode("unicode_escape").decode()
    return mark


def escape_markdown(text: str) -> str:
    """``text`` as inert Markdown on one line."""
    return " ".join(_on_one_line(text).split()).translate(_MARKDOWN)


def escape_latex(text: str) -> str:
    """``text`` with the special characters of LaTeX escaped."""
    return text.translate(_LATEX)


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(_latex_cell, cells)) + r" \\"


def _latex_cell(cell: str) -> str:
    text = escape_latex(_on_one_line(cell))
    return rf"\textbf{{{text}}}" if isinstance(cell, Strong) else text


def _on_one_line(text: str) -> str:
    """``text`` with a space for every control character, which could end a row or drive the terminal."""
    if text.isprintable():
        return text
    return "".join(" " if unicodedata.category(mark) in _INVISIBLE else mark for mark in text)


def _fit(widths: Sequence[int], limit: int | None) -> list[int]:
    """Column widths that respect ``limit`` in total: the widest columns give way first."""
    if limit is None:
        return list(widths)
    room = limit - _GAP * (len(widths) - 1)
    caps = range(limit, _NARROWEST, -1)
    cap = next((cap for cap in caps if sum(min(width, cap) for width in widths) <= room), _NARROWEST)
    return [min(width, cap) for width in widths]


def _wrap(text: str, width: int) -> list[str]:
    if display_width(text) <= width:
        return [text]
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if display_width(joined) <= width:
            lines[-1] = joined
        else:
            lines += _pieces(word, width)
    return lines if lines[0] else lines[1:]


def _pieces(word: str, width: int) -> Iterator[str]:
    """A word cut into parts that fit ``width``."""
    piece = ""
    for character in word:
        if piece and display_width(piece + character) > width:
            yield piece
            piece = ""
        piece += character
    yield piece


def _pad(text: str, width: int, align: str) -> str:
    padding = " " * (width - display_width(text))
    return text + padding if align == "left" else padding + text
