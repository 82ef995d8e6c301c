"""Pictures of a fact."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nary.errors import MissingExtraError, OutputError, SettingError
from nary.facts import GAP, Fact, Query
from nary.facts.drawing import draw_fact, fact_svg
from nary.facts.drawing.layout import MAX_LABEL_WIDTH, lay_out, text_width, wrap_label
from nary.facts.drawing.picture import Box, Picture
from nary.facts.graph import VARIANTS, fact_graph

SVG = "{http://www.w3.org/2000/svg}"
FACT = Fact("Ada", "wrote", "Notes", [("year", "1843"), ("about", "Engine"), ("with", "Babbage")])


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def of_arity(arity: int, label: str = "some name of {}") -> Fact:
    pairs = [(label.format(f"a{i}"), label.format(f"v{i}")) for i in range(arity - 2)]
    return Fact(label.format("s"), label.format("r"), label.format("o"), pairs)


def picture_of(fact: Fact | Query, variant: str) -> Picture:
    return lay_out(fact_graph(fact, variant), str(fact))


def test_an_svg_shows_every_element_its_position_and_the_legend() -> None:
    assert texts(fact_svg(FACT)) == [
        *("relation", "wrote", "subject", "Ada", "object", "Notes"),
        *("attribute 1", "about", "attribute 2", "with", "attribute 3", "year"),
        *("value 1", "Engine", "value 2", "Babbage", "value 3", "1843"),
        *("subject-relation", "object-relation", "relation-attribute", "attribute-value"),
    ]


def test_edges_of_different_types_look_different() -> None:
    root = ElementTree.fromstring(fact_svg(FACT))
    looks = [(path.get("stroke"), path.get("stroke-dasharray")) for path in root.iter(f"{SVG}path")]
    edges, legend = looks[:8], looks[8:]
    assert len(set(legend)) == 4
    assert len({dash for _, dash in legend}) == 4  # told apart without colors, too
    assert edges == [legend[0], legend[1], *[legend[2]] * 3, *[legend[3]] * 3]


def test_the_other_variants() -> None:
    assert texts(fact_svg(FACT, "homo"))[-1:] == ["edge"]
    complete = ElementTree.fromstring(fact_svg(FACT, "complete"))
    assert len(list(complete.iter(f"{SVG}path"))) == 9 * 8 / 2 + 1  # every pair, and the legend
    with pytest.raises(SettingError, match="Did you mean homo"):
        fact_svg(FACT, "hom")


def test_a_gap_is_a_dashed_vertex() -> None:
    query = Query("Ada", "wrote", GAP, [("year", "?")])
    root = ElementTree.fromstring(fact_svg(query))
    dashed = {
        group.findtext(f"{SVG}title"): group.find(f"{SVG}rect").get("stroke-dasharray") is not None  # type: ignore[union-attr]
        for group in root.iter(f"{SVG}g")
    }
    assert dashed == {
        "relation: wrote": False,
        "subject: Ada": False,
        "object: missing": True,
        "attribute 1: year": False,
        "value 1: ?": False,
    }
    assert texts(fact_svg(query))[-1] == "missing"
    assert "missing" not in fact_svg(FACT)


def test_labels_are_text_and_nothing_else() -> None:
    odd = "<script>alert('1')</script> & \"]]>"
    svg = fact_svg(Fact(odd, "&amp;", "</text>", [("<b>", "<!--")]))
    tags = {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(svg).iter()}
    assert tags == {"svg", "title", "rect", "path", "g", "text"}
    assert "<script" not in svg
    shown = texts(svg)
    assert {"&amp;", "</text>", "<b>", "<!--"} <= set(shown)
    assert odd.replace(" ", "") in "".join(shown).replace(" ", "")


@settings(max_examples=40)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1), min_size=3))
def test_any_label_gives_well_formed_xml(labels: list[str]) -> None:
    subject, relation, object, *rest = labels
    fact = Fact(subject, relation, object, list(zip(rest[::2], rest[1::2], strict=False)))
    for variant in VARIANTS:
        ElementTree.fromstring(fact_svg(fact, variant).encode())


def test_a_long_label_is_shortened_and_kept_whole_as_a_title() -> None:
    long = "the society for names " * 20 + "that never end"
    svg = fact_svg(Fact(long, "wrote", "Notes"))
    shown = texts(svg)[3:5]
    assert shown[0].startswith("the society for")
    assert shown[1].endswith("…")
    assert f"<title>subject: {long}</title>" in svg


@pytest.mark.parametrize(
    ("label", "lines"),
    [
        ("Ada", ("Ada",)),
        ("  Ada \n Lovelace", ("Ada Lovelace",)),
        ("The Analytical Engine of Charles Babbage", ("The Analytical Engine", "of Charles Babbage")),
        ("\t ", ("␣",)),
        ("a\x01b", ("a\ufffdb",)),
    ],
)
def test_labels_in_lines(label: str, lines: tuple[str, ...]) -> None:
    assert wrap_label(label) == lines


@given(st.text(min_size=1, max_size=120))
def test_no_line_is_too_wide(label: str) -> None:
    lines = wrap_label(label)
    assert 1 <= len(lines) <= 2
    assert all(line and text_width(line) <= MAX_LABEL_WIDTH for line in lines)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("arity", range(2, 13))
@pytest.mark.parametrize("label", ["{}", "a rather long name that needs two lines for {}"])
def test_vertices_keep_apart_and_inside(arity: int, variant: str, label: str) -> None:
    picture = picture_of(of_arity(arity, label), variant)
    x, y = picture.corner
    for i, box in enumerate(picture.boxes):
        assert x + 20 < box.left < box.right < x + picture.width - 20
        assert y + 20 < box.top < box.bottom < min(entry.start[1] for entry in picture.legend) - 20
        assert not any(_overlap(box, other) for other in picture.boxes[:i])
    for entry in picture.legend:
        assert x < entry.start[0] < entry.text_start[0] + text_width(entry.text, 12) < x + picture.width
        assert entry.start[1] < y + picture.height


def _overlap(one: Box, other: Box) -> bool:
    beside = one.right + 10 < other.left or other.right + 10 < one.left
    return not (beside or one.bottom + 10 < other.top or other.bottom + 10 < one.top)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("arity", [2, 3, 4, 5, 9, 12])
def test_no_edge_runs_through_a_vertex(arity: int, variant: str) -> None:
    fact = of_arity(arity)
    picture, graph = picture_of(fact, variant), fact_graph(fact, variant)
    for edge, curve in zip(graph.edges, picture.curves, strict=True):
        (ax, ay), (bx, by), (cx, cy), (dx, dy) = curve.points
        others = [box for box in picture.boxes if box.vertex.position not in (edge.first, edge.second)]
        for t in (i / 50 for i in range(51)):
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            x = sum(w * p for w, p in zip(weights, (ax, bx, cx, dx), strict=True))
            y = sum(w * p for w, p in zip(weights, (ay, by, cy, dy), strict=True))
            assert not any(box.left < x < box.right and box.top < y < box.bottom for box in others)


def test_a_file_of_each_kind(tmp_path: Path) -> None:
    draw_fact(FACT, tmp_path / "new" / "fact.SVG")
    draw_fact(FACT, tmp_path / "new" / "fact.png", "homo")
    assert (tmp_path / "new" / "fact.SVG").read_text(encoding="utf-8") == fact_svg(FACT)
    png = (tmp_path / "new" / "fact.png").read_bytes()
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    picture = picture_of(FACT, "homo")
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
    assert (width / 2, height / 2) == pytest.approx((picture.width, picture.height), abs=1)
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["fact.SVG", "fact.png"]


def test_a_png_of_names_that_mean_something_to_matplotlib(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    draw_fact(Query("$\\frac$", "costs $5 or $^", "漢字", [("\x01", GAP)]), tmp_path / "fact.png", "complete")
    assert (tmp_path / "fact.png").stat().st_size > 1000
    assert not recwarn.list


def test_an_unknown_kind_of_picture(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=re.escape("cannot draw fact.gif\nUse a file name that ends in .svg")):
        draw_fact(FACT, tmp_path / "fact.gif")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["fact.svg", "fact.png"])
def test_where_nothing_can_be_written(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        draw_fact(FACT, tmp_path / "file" / name)


def test_without_matplotlib_there_is_svg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)  # what an import of a missing module finds
    draw_fact(FACT, tmp_path / "fact.svg")
    with pytest.raises(MissingExtraError, match=r"nary\[plots\]"):
        draw_fact(FACT, tmp_path / "fact.png")
    assert [path.name for path in tmp_path.iterdir()] == ["fact.svg"]
