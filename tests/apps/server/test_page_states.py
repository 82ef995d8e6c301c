"""Every state of the explorer looks like something: it fills the screen, and nothing overflows or overlaps.

axe-core, which the package ``axe-core-python`` brings, checks that everybody can use it: names, roles, contrast.
"""

import io
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

import pytest
from apps.server.browser import DESKTOP, PHONE, Page
from matplotlib.image import imread
from numpy import unique

pytestmark = pytest.mark.browser

FACT = "Marie Curie | award received | Nobel Prize in Physics | point in time: 1903"
STATES = {
    "start": "",
    "answers": "#fact=Marie+Curie+|+award+received+|+?",
    "completions": "#fact=Marie+Curie+|+?+|+?",
    "plausibility": f"#fact={FACT.replace(' ', '+')}&why=object",
    "unknown name": "#fact=Mary+Curie+|+award+received+|+?",
    "no fact": "#fact=nonsense",
    "entity": "#/entity/Marie%20Curie",
    "unknown entity": "#/entity/Mary%20Curie",
    "relation": "#/relation/award%20received",
    "relations": "#/relations",
    "file": "#/file",
    "about": "#/about",
}
ON_PHONES = ("start", "answers", "plausibility", "entity", "relation", "about")
OVERLAPS = """
const rects = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !element.checkVisibility({ visibilityProperty: true })) continue;
  if (element.closest(".visually-hidden, .skip, script, noscript, title, select, textarea")) continue;
  const range = document.createRange();
  range.selectNodeContents(walker.currentNode);
  for (const rect of range.getClientRects()) rects.push([walker.currentNode, rect]);
}
const overlap = (one, two) =>
  Math.min(one.right, two.right) - Math.max(one.left, two.left) > 1 &&
  Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top) > 4;  // lines of text are higher than their letters
const pairs = [];
rects.forEach(([one, rect], index) => {
  for (const [other, otherRect] of rects.slice(index + 1))
    if (one !== other && overlap(rect, otherRect)) pairs.push([one.data.trim(), other.data.trim()]);
});
return pairs;
"""
AXE = "const done = arguments[0]; axe.run().then((results) => done(results.violations));"


def _violations(page: Page) -> list[str]:
    """What axe-core objects to, with the first element that is at fault."""
    if not page.run("return window.axe !== undefined"):
        page.run(files("axe_core_python").joinpath("axe.min.js").read_text())
    violations: list[dict[str, Any]] = page.driver.execute_async_script(AXE)
    return [f"{one['id']}: {one['help']}: {one['nodes'][0]['html']}" for one in violations]


def _look(page: Page, width: int) -> None:
    """The page is neither blank nor wider than the screen, no text lies on another, and axe-core has no objection."""
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert page.run(OVERLAPS) == []
    picture = imread(io.BytesIO(page.driver.get_screenshot_as_png()))
    colors, counts = unique((255 * picture[::3, ::3, :3] @ [1, 1 << 8, 1 << 16]).round(), return_counts=True)
    assert len(colors) > 20
    assert counts.max() < 0.985 * counts.sum()
    if find_spec("axe_core_python"):
        assert _violations(page) == []


@pytest.mark.parametrize(
    ("state", "size"),
    [*((state, DESKTOP) for state in STATES), *((state, PHONE) for state in ON_PHONES)],
    ids=[*STATES, *(f"{state} on a phone" for state in ON_PHONES)],
)
def test_every_state_is_presentable(page: Page, state: str, size: tuple[int, int]) -> None:
    page.prefer(color_scheme="dark" if size == PHONE else "light", reduced_motion="reduce")
    page.resize(size)
    page.go(STATES[state])
    if state.startswith(("unknown", "no")):
        page.until(lambda: page.all(".error"))
    _look(page, size[0])


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_file_and_its_results(page: Page, size: tuple[int, int]) -> None:
    page.resize(size)
    page.go("#/file")
    lines = f"{FACT}\nMarie Curie | born in | Copley Medal\nMary Curie | born in | ?\nNiels Bohr | born in | ?"
    page.run("document.getElementById('file-text').value = arguments[0]", lines)
    page.button("Score and answer").click()
    page.until(lambda: page.texts("#file .progress") == ["4 of 4 lines done"])
    _look(page, size[0])


@pytest.mark.skipif(find_spec("axe_core_python") is None, reason="needs axe-core: pip install axe-core-python")
def test_axe_would_find_something(page: Page) -> None:
    page.go("#/about")
    page.run("document.querySelector('#about').append(document.createElement('button'))")
    assert [one.split(":")[0] for one in _violations(page)] == ["button-name"]


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_names_that_are_offered(page: Page, size: tuple[int, int]) -> None:
    page.resize(size)
    page.open()
    page.one("#search-box").send_keys("cur")
    page.until(lambda: len(page.texts("#search .options li")) == 2)
    assert page.run("return document.documentElement.scrollWidth") <= size[0]
