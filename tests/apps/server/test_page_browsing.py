"""Looking around in the explorer: entities, relations, the model, the search box, what the browser remembers."""

import re

import pytest
from apps.server.browser import Page
from apps.server.laureates import SCRIPT
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser

CURIE = "#/entity/Marie%20Curie"
BLOCKED = """
    for (const area of ["localStorage", "sessionStorage"])
      Object.defineProperty(window, area, { get() { throw new DOMException("blocked", "SecurityError"); } });
"""


def test_an_entity_has_its_facts_in_groups(page: Page) -> None:
    page.go(CURIE)
    assert page.text("#view-entity h1") == "Marie Curie"
    assert re.search(r"entity · \d+ facts", page.text("#view-entity .title"))
    headings = page.texts("#entity-facts h3")
    assert [heading.split("\n")[0] for heading in headings][:2] == ["award received", "born in"]
    first = page.texts("#entity-facts .group:first-child .fact-list a")
    assert "Nobel Prize in Physics\npoint in time: 1903" in first
    assert all("Marie Curie" not in one for one in first)  # which all of them are about
    assert page.texts("#entity-similar a")
    assert "facts checked" in page.text("#entity-doubtful")
    assert page.text("#entity-missing .body")


def test_a_large_group_is_paged_and_a_fact_is_opened_from_it(page: Page) -> None:
    page.go("#/entity/Nobel%20Prize%20in%20Physics")
    assert page.text("#entity-facts h3").startswith("object of")
    assert len(page.all("#entity-facts .fact-list li")) == 5
    page.button("Show more (").click()
    page.until(lambda: not page.all("#entity-facts .more"))
    total = int(page.text("#entity-facts h3 .number"))
    assert len(page.all("#entity-facts .fact-list li")) == total > 5
    page.click("#entity-facts .fact-list a")
    page.until(lambda: "award received | Nobel Prize in Physics" in page.line())
    page.driver.back()
    page.until(lambda: page.texts("#view-entity h1") == ["Nobel Prize in Physics"])


def test_labels_on_pages_are_text(page: Page) -> None:
    page.open()
    page.one("#search-box").send_keys("<script>")
    page.until(lambda: page.texts("#search .options li"))
    page.one("#search-box").send_keys(Keys.ARROW_DOWN, Keys.ENTER)
    page.until(lambda: page.texts("#view-entity h1") == [SCRIPT])
    page.settle()
    assert page.run("return document.querySelectorAll('main img, main script, main b').length") == 0
    page.button("☆ Star").click()
    page.open()
    assert page.texts("#starred a") == [SCRIPT]


def test_a_page_of_nobody_says_so(page: Page) -> None:
    page.go("#/entity/Mary%20Curie")
    assert "Unknown entity 'Mary Curie'" in page.text("#entity-facts .error")
    assert "Marie Curie" in page.text("#entity-facts .error")
    assert not page.all("#entity-missing")


def test_a_relation_and_the_list_of_all(page: Page) -> None:
    page.go("#/relations")
    assert page.texts("#relations li a")[0] == "award received"
    page.click("#relations li a")
    page.until(lambda: page.texts("#view-relation h1") == ["award received"])
    page.settle()
    assert page.all('nav a[aria-current="page"]')[0].text == "Relations"
    assert page.texts("#relation-use h3")[1:] == [
        "Subjects\n6 different",
        "Objects\n2 different",
        "Attributes\n2 different",
    ]
    assert "Not recorded" in page.text("#relation-metrics")
    assert page.text("#relation-rules .body") == "This model has no rules."
    assert page.texts("#relation-facts .fact-list a")[0].startswith("Marie Curie · Nobel Prize in Physics")


def test_the_model_its_quality_and_where_it_comes_from(page: Page) -> None:
    page.go("#/about")
    text = page.text("#about")
    assert "gran on toy" in text
    assert re.search(r"fingerprint\s+[0-9a-f]{64}", text)
    assert "calibrated on facts held out" in text
    page.one("#about summary").click()
    assert "[training]" in page.text("#about pre")
    assert page.text("#model").startswith("gran on toy")


def test_one_box_finds_names_and_understands_questions(page: Page) -> None:
    page.open()
    page.one("body").send_keys("/")
    page.driver.switch_to.active_element.send_keys("mar")
    page.until(lambda: page.texts("#search .options li") == ["Marie Curie\nentity"])
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    page.until(lambda: page.texts("#view-entity h1") == ["Marie Curie"])
    box = page.one("#search-box")
    box.send_keys("niels bohr | born in | ?", Keys.ENTER)
    page.until(lambda: page.line() == "Niels Bohr | born in | ?")
    page.until(lambda: "Copenhagen" in page.text("#answers"))


def test_one_box_offers_what_may_be_meant_and_nothing_silly(page: Page) -> None:
    page.open()
    box = page.one("#search-box")
    box.send_keys("Mary Curie")
    page.until(lambda: page.texts("#search .options li") == ["No match. Did you mean:", "Marie Curie\nentity"])
    box.send_keys(Keys.CONTROL, "a")
    box.send_keys("Lise Meitner")
    page.until(lambda: page.texts("#search .options li") == ["No match."])
    box.send_keys(Keys.ENTER)
    assert page.texts("#search .options li") == ["No match."]


def test_equal_labels_have_their_names_beside_them(page: Page) -> None:
    page.open("Albert Einstein | born in | ?")
    labels = page.texts(".answers .label")
    assert {"Paris", "Paris\nUlm"} <= set(labels) or {"Paris", "ParisUlm"} <= set(labels)
    page.one("#search-box").send_keys("pari")
    page.until(lambda: sorted(page.texts("#search .options li .id")) == ["Ulm"])


def test_a_meaning_is_chosen_where_there_are_several(page: Page) -> None:
    page.open("Albert Einstein | born in | PARIS")
    page.until(lambda: "has several meanings" in page.text("#fact-error"))
    page.button("Ulm").click()
    page.until(lambda: page.line() == "Albert Einstein | born in | Ulm")


def test_a_name_that_nobody_knows_can_be_asked_about(page: Page) -> None:
    page.open("Lise Meitner | award received | ?")
    page.until(lambda: "No known name is close" in page.text("#fact-error"))
    page.button("Ask anyway").click()
    page.until(lambda: page.texts(".answers .answer"))
    assert "'Lise Meitner' is treated as the average subject of award received" in page.text("#answers .note")
    assert "unseen=1" in page.driver.current_url
    page.settle()
    assert not page.all(".error")
    page.click(".answers .answer")
    page.until(lambda: "plausible" in page.text("#answers"))


def test_what_was_asked_and_starred_is_remembered(page: Page) -> None:
    page.open()
    page.run("localStorage.clear()")
    page.open("Marie Curie | born in | ?")
    page.button("☆ Star").click()
    assert page.text(".star") == "★ Starred"
    page.open("Niels Bohr | born in | ?")
    assert page.text(".star") == "☆ Star"
    page.go(CURIE)
    page.open("Mary Curie | born in | ?")  # which has no answer
    page.open()
    assert page.texts("#starred a") == ["Marie Curie · born in · ?"]
    assert page.texts("#recent a") == ["Marie Curie", "Niels Bohr · born in · ?", "Marie Curie · born in · ?"]
    page.click("#starred a")
    page.until(lambda: page.line() == "Marie Curie | born in | ?")
    page.open()
    page.click("#starred button")
    page.button("Clear").click()
    page.until(lambda: not page.all("#starred") and not page.all("#recent"))


def test_it_works_where_the_browser_may_remember_nothing(page: Page) -> None:
    script = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": BLOCKED})
    try:
        page.open("Marie Curie | born in | ?")
        page.button("☆ Star").click()
        page.button("Dark mode").click()
        assert page.text(".star") == "★ Starred"
        page.click(".brand")
        page.until(lambda: page.texts("#starred a") == ["Marie Curie · born in · ?"])
        assert page.complaints() == []
    finally:
        page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def test_stored_data_that_is_not_ours_does_no_harm(page: Page) -> None:
    page.open()
    page.run("localStorage.setItem('nary-recent', arguments[0])", '[{"hash": "javascript:alert(1)", "label": "x"}, 3]')
    page.run("localStorage.setItem('nary-starred', '{')")
    page.open()
    assert not page.all("#recent, #starred")
    page.run("localStorage.clear()")


def test_bars_are_shares_of_the_whole(page: Page) -> None:
    page.open("Niels Bohr | P9 | ?")
    shares = [float(text.strip("<%")) for text in page.texts(".answers .number")]
    widths = page.run(
        "return [...document.querySelectorAll('.answers .inside')].map((one) => parseFloat(one.style.width))"
    )
    assert widths == pytest.approx(shares, abs=0.1)
