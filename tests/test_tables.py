"""Tables as text, Markdown and LaTeX."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nary.tables import Column, Strong, Table, display_width, escape_latex, escape_markdown, left, right

MARKS = r"\`*_{}[]<>()#+-.!|~&$:@^="
TABLE = Table([*left("model"), *right("MRR", "queries")], [["gran", Strong("0.852"), "1,234"], ["n-cp", "0.787", "–"]])


def test_text_is_aligned_and_the_strong_cell_has_a_star() -> None:
    assert TABLE.text().split("\n") == [
        "model    MRR   queries",
        "gran   0.852*    1,234",
        "n-cp   0.787         –",
    ]
    assert TABLE.lines() == TABLE.text().split("\n")


def test_markdown() -> None:
    assert TABLE.markdown().split("\n") == [
        "| model | MRR | queries |",
        "| --- | --: | --: |",
        "| gran | **0.852** | 1,234 |",
        "| n-cp | 0.787 | – |",
    ]


def test_latex() -> None:
    assert TABLE.latex("50% of a_b").splitlines() == [
        r"\begin{tabular}{lrr}",
        r"\hline",
        r"model & MRR & queries \\",
        r"\hline",
        r"gran & \textbf{0.852} & 1,234 \\",
        r"n-cp & 0.787 & – \\",
        r"\hline",
        r"\end{tabular}",
        r"\par{\footnotesize 50\% of a\_b}",
    ]
    assert TABLE.latex().endswith("\\end{tabular}\n")


def test_latex_escapes_titles_and_cells() -> None:
    table = Table(left("#"), [["a_b & c{d}\\e"], [Strong("x<y>z|w~^$%")]])
    assert table.latex().splitlines()[2:6:1] == [
        r"\# \\",
        r"\hline",
        r"a\_b \& c\{d\}\textbackslash{}e \\",
        r"\textbf{x$<$y$>$z$|$w\textasciitilde{}\textasciicircum{}\$\%} \\",
    ]
    assert escape_latex("plain – text") == "plain – text"


def test_wide_and_combining_characters_are_measured_as_they_are_shown() -> None:
    assert [display_width(text) for text in ("abc", "日本", "e\u0301", "a\u200db", "é", "ﾊ")] == [3, 4, 1, 2, 1, 1]
    table = Table([*left("name"), *right("n")], [["日本語", "1"], ["e\u0301a", "2"], ["abcdef", "3"]])
    assert table.text().split("\n") == ["name    n", "日本語  1", "e\u0301a      2", "abcdef  3"]


def test_tables_without_rows_or_titles() -> None:
    assert Table(left("a", "b"), []).text() == "a  b"
    assert Table(left("a", "b"), []).markdown() == "| a | b |\n| --- | --- |"
    assert Table(left("a", "b"), []).latex().splitlines()[-3:] == [r"\hline", r"\hline", r"\end{tabular}"]
    assert Table(left("", ""), [["x", "y"]]).lines() == ["", "x  y"]
    assert Table([], []).text() == ""


def test_a_row_has_a_cell_for_every_column() -> None:
    with pytest.raises(ValueError, match="argument"):
        Table(left("a", "b"), [["only one"]]).text()


def test_control_characters_break_neither_rows_nor_the_terminal() -> None:
    table = Table(left("a"), [["one\ntwo\x1b[31m\u2028three"]])
    assert table.lines() == ["a", "one two [31m three"]
    assert table.markdown().count("\n") == 2
    assert table.latex().splitlines()[4] == r"one two [31m three \\"


def test_the_widest_column_is_wrapped_to_the_width_of_the_terminal() -> None:
    table = Table([*left("name", "about"), *right("n")], [["gran", "attention over n-ary facts", "12"]])
    assert table.lines(24) == ["name  about            n", "gran  attention over  12\n      n-ary facts"]
    assert table.lines(200) == table.lines()
    assert all(display_width(line) <= 24 for line in table.text(24).split("\n"))


def test_words_that_do_not_fit_are_cut() -> None:
    assert Table(left("a"), [["日本語日本語 abcdefghijkl"]]).text(9).split("\n") == [
        *("a", "日本語日", "本語", "abcdefghi", "jkl")
    ]
    narrow = Table(left("a", "b"), [["x" * 20, "y" * 20]]).text(3)  # columns do not shrink without end
    assert narrow.split("\n") == ["a         b", *[f"{'x' * 8}  {'y' * 8}"] * 2, f"{'x' * 4}      {'y' * 4}"]


@given(st.lists(st.tuples(st.text(), st.text()), max_size=5), st.integers(20, 60))
def test_lines_fit_and_nothing_visible_is_lost(rows: list[tuple[str, str]], width: int) -> None:
    table = Table([Column("a"), Column("b", "right")], rows)
    text = table.text(width)
    assert all(display_width(line) <= width for line in text.split("\n"))
    assert len(table.lines(width)) == len(rows) + 1
    control = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\s]")
    given_characters = sorted(control.sub("", "ab" + "".join(a + b for a, b in rows)))
    assert sorted(control.sub("", text)) == given_characters


@given(st.text())
def test_escaped_markdown_is_one_line_without_marks(text: str) -> None:
    escaped = escape_markdown(text)
    assert len(escaped.splitlines()) <= 1
    bare = re.sub(r"\\(.)", "", escaped)
    assert not set(bare) & set(MARKS)
    shown = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text)
    assert re.sub(r"\\(.)", r"\1", escaped).split() == shown.split()
