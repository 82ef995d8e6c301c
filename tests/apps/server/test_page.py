"""The explorer page in a real browser, on a small model with labels that try to be markup."""

import re
import time
from importlib.resources import files
from pathlib import Path

import pytest
from apps.server.browser import PHONE, Page
from apps.server.laureates import IMAGE, SCRIPT
from apps.server.running import client_of, nary_process, serving
from runs.small import dataset_of, small_run
from selenium.webdriver.common.keys import Keys

from nary.facts import Fact
from nary.runs import blend_runs, load_model

pytestmark = pytest.mark.browser

QUESTION = "Marie Curie | award received | ? | point in time: 1903"
FACT = "Marie Curie | award received | Nobel Prize in Physics | point in time: 1903"


def test_nothing_reads_markup_and_nothing_comes_from_elsewhere() -> None:
    for file in files("nary.apps").joinpath("page").iterdir():
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"(inner|outer|Adjacent|parse|set)HTML|document\.write|DOMParser|\beval\b|https?://", text)


def test_every_section_has_an_accessible_name(page: Page) -> None:
    page.open(FACT, why="object")
    titles = page.run("""
        const sections = [...document.querySelectorAll("section, dialog")];
        return sections.map((section) => section.getAttribute("aria-labelledby"));
    """)
    assert len(titles) == 22
    assert None not in titles
    for title in titles:
        assert title == "token-title" or page.run("return document.getElementById(arguments[0]).textContent", title)


def test_an_example_and_not_a_word_on_the_console(page: Page) -> None:
    page.open()
    page.click(".example")
    page.settle()
    assert page.texts(".answers .answer")
    page.click(".answer")
    page.settle()
    assert page.complaints() == []


def test_composing_a_fact_from_its_fields(page: Page) -> None:
    page.open()
    page.choose("subject", "Marie")
    page.choose("relation", "award")
    page.until(lambda: page.line() == "Marie Curie | award received | ?")
    page.button("Add qualifier").click()
    page.choose("new attribute", "point")
    page.choose("new value", "1903")
    page.until(lambda: page.line() == QUESTION)
    page.settle()
    assert (page.value("attribute 1"), page.value("value 1")) == ("point in time", "1903")
    assert page.text("#answers-title") == "Answers for the object"
    vertices = {one.get_attribute("data-position"): one for one in page.all(".vertex")}
    assert set(vertices) == {"subject", "relation", "object", "attribute 1", "value 1"}
    assert "gap" in str(vertices["object"].get_attribute("class"))
    for look in ("stroke", "stroke-dasharray"):
        assert len({edge.value_of_css_property(look) for edge in page.all(".canvas .edge")}) == 4
    page.click('[aria-label="Remove qualifier 1"]')
    page.until(lambda: page.line() == "Marie Curie | award received | ?")


def test_the_line_and_the_fields_are_in_step(page: Page) -> None:
    page.open()
    page.one("#one-line").send_keys("marie curie | born in | ?")
    page.until(lambda: page.value("subject") == "Marie Curie", "a name in another case is the model's name")
    assert page.line() == "marie curie | born in | ?"  # nobody's writing is changed under their hands
    page.one("#one-line").send_keys(Keys.ENTER)
    page.until(lambda: page.line() == "Marie Curie | born in | ?")
    page.click('[aria-label="Predict the relation"]')
    page.until(lambda: page.line() == "Marie Curie | ? | ?")


def test_an_answer_is_put_in_judged_and_explained(page: Page) -> None:
    page.open(QUESTION)
    assert page.texts("#answers h3") == ["In the data: 6 facts", "Predicted"]
    stored, predicted = (
        [float(text.removeprefix("model: ").strip("<%")) for text in page.texts(f".answers:nth-of-type({i}) .number")]
        for i in (1, 2)
    )
    assert (len(stored), len(predicted)) == (2, 10)
    for numbers in (stored, predicted):
        assert numbers == sorted(numbers, reverse=True)
    first = page.text(".answers .answer").split("\n")
    assert first[0] == "Nobel Prize in Physics"
    assert page.text(".answers .stored").startswith("train")
    assert FACT in page.text(".answers .stored")
    page.click(".answers .answer")
    page.settle()
    assert page.line() == FACT
    assert page.text("#answers .body > p").startswith("Known fact: train")
    assert len(page.all(".elements li")) == len(page.all(".vertex")) == 5
    assert "Nobel Prize in Physics as object" in page.text("#why")
    assert {text[0] for text in page.texts("#why .contributions .number")} <= {"+", "−"}
    assert page.texts("#why .facts .fact")
    assert len({edge.get_attribute("stroke-width") for edge in page.all(".canvas .edge")}) > 1


def test_the_worst_fit_is_marked(page: Page) -> None:
    page.open("Marie Curie | born in | Nobel Prize in Physics")
    assert page.texts(".elements .badge") == ["worst fit"]
    worst = page.text(".elements .worst .chip")
    assert [one.get_attribute("data-position") for one in page.all(".vertex.worst")] == [worst]
    page.open(FACT)
    assert not page.all(".elements .badge")


def test_an_element_is_asked_for_from_the_graph_and_from_the_list(page: Page) -> None:
    page.open(FACT)
    assert not page.all("#why")
    page.click('.vertex[data-position="value 1"]')
    page.until(lambda: page.line().endswith("point in time: ?"))
    page.open(FACT)
    next(one for one in page.all(".elements .answer") if one.text.startswith("subject")).click()
    page.until(lambda: page.line().startswith("? | award received"))


def test_a_blend_with_its_parts_and_rules(shared_page: Page, page_folder: Path, tmp_path: Path) -> None:
    data = load_model(page_folder).dataset
    small_run(tmp_path / "rules", "rules", data, training__batch_size=8)
    blend_runs([tmp_path / "rules", page_folder], tmp_path / "blend")
    with serving(tmp_path / "blend") as served:
        page = Page(shared_page.driver, served.url)
        page.open(FACT, why="object")
        page.until(lambda: "as object" in page.text("#why"))
        reason = page.texts("#why .rules li")[0]
        assert reason.startswith("because ")
        assert re.search(r"(is|are) known; holds in [\d.]+% of [\d,]+ cases$", reason)
        assert re.fullmatch(r"(rules|gran): [\d.]+%, rank \d+, weight [\d.]+%", page.texts("#why .votes li")[0])
        page.go("#/relation/award%20received")
        rule = page.text("#relation-rules .rules li")
        assert re.search(r"holds in [\d,]+ of [\d,]+ cases · confidence [\d.]+%", rule)
        assert page.complaints() == []


def test_the_expected_number_on_the_page_and_in_a_file(shared_page: Page, tmp_path: Path) -> None:
    pay = [(f"P{i}", f"{1000 + 10 * i}^^number") for i in range(20)]
    facts = [Fact(name, "works at", "Firm", [("paid", amount)]) for name, amount in pay]
    small_run(tmp_path / "run", "rules", dataset_of(train=facts, valid=facts[:2]), training__batch_size=8)
    question = "P1 | works at | Firm | paid: ?"
    value = load_model(tmp_path / "run").predict(question).value
    assert value is not None
    (tmp_path / "questions.txt").write_text(question)
    with serving(tmp_path / "run") as served:
        page = Page(shared_page.driver, served.url)
        page.open(question)
        assert page.text("#answers .expected") == f"Expected value: {value.label}"
        page.go("#/file")
        page.one("#file-input").send_keys(str(tmp_path / "questions.txt"))
        page.button("Score and answer").click()
        page.until(lambda: f"expected {value.label}" in " ".join(page.texts("#file-results .results li")))
        page.complaints()  # rules have no similar entities, which the server says


def test_why_for_any_element(page: Page) -> None:
    page.open(FACT)
    page.click('[aria-label="Explain 1903 as value 1"]')
    page.until(lambda: "1903 as value 1" in page.text("#why"))
    page.settle()
    assert "why=value+1" in page.driver.current_url
    assert page.run("return document.activeElement.getAttribute('aria-label')") == "Explain 1903 as value 1"


def test_all_answers_only_stored_ones_only_predicted_ones(page: Page) -> None:
    page.open("Marie Curie | born in | ?")
    assert page.texts("#answers h3") == ["In the data: 2 facts", "Predicted"]
    page.click(".filter label:nth-of-type(2)")
    page.until(lambda: page.texts(".answers .label") == ["Warsaw"])
    assert page.texts("#answers h3") == ["In the data: 2 facts"]
    page.click(".filter label:nth-of-type(3)")
    page.until(lambda: len(page.all(".answers .answer")) == 10)
    assert page.texts("#answers h3") == ["Predicted"]
    assert page.texts(".answers .badge") == []


def test_a_question_with_less_than_the_stored_facts_shows_what_is_stored(page: Page) -> None:
    page.open("Marie Curie | award received | ?")
    assert page.texts("#answers h3") == ["In the data: 6 facts", "Predicted"]
    assert {text.split("\n")[0] for text in page.texts(".answers .answer")[:2]} == {
        "Nobel Prize in Physics",
        "Copley Medal",
    }
    page.open("Marie Curie | award received | Copley Medal")
    assert "Copley Medal | point in time: 1903 | prize share: 1/2" in page.text("#answers .stored")


def test_a_suggested_qualifier_is_added(page: Page) -> None:
    page.open("Marie Curie | award received | Copley Medal")
    attribute, value = (page.text(".suggestion").split("\n")[i].removeprefix("+ ") for i in (0, 1))
    page.click(".suggestion")
    page.until(lambda: page.line() == f"Marie Curie | award received | Copley Medal | {attribute}: {value}")


def test_stored_qualifiers_come_before_suggested_ones(page: Page) -> None:
    page.open("Marie Curie | award received | Copley Medal")
    assert page.texts("#suggestions h3") == ["In the data", "Predicted"]
    first, second, third = page.texts(".suggestion")[:3]
    assert {tuple(text.split("\n")[:2]) for text in (first, second)} == {
        ("+ point in time", "1903"),
        ("+ prize share", "1/2"),
    }
    assert all("Marie Curie | award received | Copley Medal | point in time" in text for text in (first, second))
    assert "|" not in third


def test_without_stored_answers_there_are_predictions_alone(page: Page) -> None:
    page.open("Niels Bohr | P9 | ?")
    assert page.texts("#answers h3") == ["Predicted"]
    assert page.text("#answers .body > div").startswith("Predicted")


def test_what_is_known_about_an_entity(page: Page) -> None:
    page.open("Marie Curie | born in | ?")
    assert "Marie Curie · born in · Warsaw" in page.texts("#known .fact-list a")
    name = page.text("#known .chips:last-child button")
    page.click("#known .chips:last-child button")
    page.until(lambda: page.value("subject") == name)
    page.settle()
    page.click("#known .fact-list a")
    page.until(lambda: "?" not in page.line())


def test_from_the_start_to_an_explained_answer_by_keyboard_alone(page: Page) -> None:
    page.open()

    def press(*keys: str) -> None:
        page.driver.switch_to.active_element.send_keys(*keys)

    def tab_to(selector: str) -> None:
        for _ in range(40):
            if page.run("return document.activeElement.matches(arguments[0])", selector):
                return
            press(Keys.TAB)
        pytest.fail(f"the tab key does not lead to {selector}")

    def pick(name: str, typed: str) -> None:
        tab_to(f'[aria-label="{name}"]')
        press(typed)
        page.until(lambda: all(typed.lower() in one.lower() for one in page.texts('[role="option"]')))
        page.one('[role="option"]')
        press(Keys.ARROW_DOWN)
        active = page.driver.switch_to.active_element.get_attribute("aria-activedescendant")
        assert page.one(f"#{active}").get_attribute("aria-selected") == "true"
        press(Keys.ENTER)
        page.settle()

    pick("subject", "marie")
    pick("relation", "born")
    tab_to(".answers button")
    press(Keys.ARROW_DOWN)
    second = page.driver.switch_to.active_element.text.split("\n")[0]
    press(Keys.ENTER)
    page.until(lambda: page.line() == f"Marie Curie | born in | {second}")
    page.settle()
    assert f"{second} as object" in page.text("#why")
    tab_to('.vertex[data-position="subject"]')
    press(Keys.ENTER)
    page.until(lambda: page.line() == f"? | born in | {second}")


def test_escape_closes_the_names_then_takes_back_what_was_typed(page: Page) -> None:
    page.open(QUESTION)
    field = page.field("subject")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("Bohr")
    page.until(lambda: page.texts('[role="option"]') == ["Niels Bohr"])
    field.send_keys(Keys.ESCAPE)
    assert not page.all('[role="option"]')
    assert page.value("subject") == "Bohr"
    field.send_keys(Keys.ESCAPE)
    assert page.value("subject") == "Marie Curie"
    assert page.line() == QUESTION


def test_labels_are_text_and_never_markup(page: Page) -> None:
    page.open()
    page.choose("subject", "<script>")
    page.choose("relation", "spouse")
    assert page.value("relation") == "<b>spouse</b>"
    page.until(lambda: page.line() == f"{SCRIPT} | P9 | ?")
    page.settle()
    page.click(".filter label:nth-of-type(2)")
    page.until(lambda: page.texts(".answers .label") == [IMAGE])
    page.click(".answer")
    page.settle()
    for role, label in (("subject", SCRIPT), ("object", IMAGE)):
        assert label in page.run(f"return document.querySelector('.vertex.{role} title').textContent")
    assert IMAGE in page.text(".elements")
    assert SCRIPT in page.text("#known")
    assert page.value("object") == IMAGE
    assert page.run("return document.querySelectorAll('main img, main script, main b').length") == 0


def test_a_name_that_nobody_knows(page: Page) -> None:
    page.open()
    field = page.field("subject")
    field.send_keys("Mary Curie", Keys.TAB)
    page.until(lambda: "“Mary Curie” is unknown" in page.text("#fact-error"))
    assert "invalid" in str(page.one(".combobox.subject").get_attribute("class"))
    page.button("Marie Curie").click()
    page.until(lambda: page.value("subject") == "Marie Curie")
    page.settle()
    assert not page.all(".error")
    assert page.texts(".answers .answer")


def test_a_line_that_is_no_fact(page: Page) -> None:
    page.open()
    page.one("#one-line").send_keys("Marie Curie | born in", Keys.ENTER)
    page.until(lambda: page.all("#fact-error .error"))
    assert "2 of the three parts" in page.text("#fact-error")
    assert "Write subject | relation | object" in page.text("#fact-error")


def test_several_gaps_are_completed_together(page: Page) -> None:
    page.open("Marie Curie | ? | ?")
    assert "experimental" in page.text("#answers")
    assert not page.all(".filter")
    assert {"relation", "object"} <= set(page.texts(".answers li:first-child .chip"))
    page.click(".answers .answer")
    page.until(lambda: "?" not in page.line())


def test_a_link_brings_the_state_and_back_and_forward_work(page: Page) -> None:
    page.open(FACT, why="object")
    page.until(lambda: "as object" in page.text("#why"))
    page.open("Marie Curie | born in | ?", known="only")
    assert page.texts(".answers .badge") == ["train"]
    page.click(".answers .answer")
    page.until(lambda: page.line() == "Marie Curie | born in | Warsaw")
    page.driver.back()
    page.until(lambda: page.line() == "Marie Curie | born in | ?")
    page.settle()
    assert page.texts(".answers .badge") == ["train"]
    page.driver.forward()
    page.until(lambda: page.line() == "Marie Curie | born in | Warsaw")
    page.click(".brand")
    page.until(lambda: page.all(".example"))
    page.driver.back()
    page.until(lambda: page.value("object") == "Warsaw")


def test_an_old_answer_never_covers_a_new_one(page: Page) -> None:
    page.open()
    page.run("""
        const sent = window.fetch;
        window.fetch = async (address, options) => {
          const answer = await sent(address, { ...options, signal: null });  // not even aborted
          if (String(options.body).includes("Marie")) await new Promise((done) => setTimeout(done, 600));
          return answer;
        };""")
    line = page.one("#one-line")
    line.send_keys("Marie Curie | born in | ?", Keys.ENTER)
    line.send_keys(Keys.CONTROL, "a")
    line.send_keys("Niels Bohr | born in | ?", Keys.ENTER)
    page.until(lambda: page.value("subject") == "Niels Bohr")
    time.sleep(1)
    assert page.value("subject") == "Niels Bohr"
    assert page.texts("#known .chips:first-child button") == ["Niels Bohr"]


def test_dark_as_the_system_says_or_as_one_likes(page: Page) -> None:
    page.open()

    def lightness() -> int:
        color = page.run("return getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", color)[:3]))

    assert lightness() > 600
    page.prefer(color_scheme="dark")
    page.until(lambda: lightness() < 150)
    page.button("Light mode").click()
    assert lightness() > 600
    page.open()
    assert lightness() > 600
    page.button("Dark mode").click()
    assert lightness() < 150


CONTRASTS = """
const channel = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
const light = (color) => {
  const [r, g, b] = numbers(color).map(channel);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = (element) => {
  const vertex = element.closest(".vertex");
  if (vertex) return getComputedStyle(vertex.querySelector("rect")).fill;
  for (let at = element; at; at = at.parentElement) {
    const color = getComputedStyle(at).backgroundColor;
    if (numbers(color)[3] !== 0) return color;
  }
};
const poor = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !element.checkVisibility({ visibilityProperty: true })) continue;
  if (["SCRIPT", "NOSCRIPT", "title"].includes(element.tagName)) continue;
  const style = getComputedStyle(element);
  const pair = [light(element.closest("svg") ? style.fill : style.color), light(ground(element))].sort((a, b) => b - a);
  const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
  if (contrast < 4.5) poor.push([walker.currentNode.data, contrast.toFixed(2)]);
}
return poor;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(page: Page, scheme: str) -> None:
    page.prefer(color_scheme=scheme, reduced_motion="reduce")
    page.open()
    assert page.run(CONTRASTS) == []
    page.open(FACT, why="object")
    assert page.run(CONTRASTS) == []
    page.open("Mary Curie | award received | ?")
    page.until(lambda: page.all(".error"))
    assert page.run(CONTRASTS) == []


def test_a_phone_never_scrolls_sideways(page: Page) -> None:
    page.resize(PHONE)
    for fact, state in [(None, {}), (QUESTION, {}), (FACT, {"why": "object"}), ("Marie Curie | ? | ?", {})]:
        page.open(fact, **state)
        assert page.run("return document.documentElement.scrollWidth") == PHONE[0]
    assert not page.all(".combobox")  # answers come first
    page.button("Edit").click()
    page.field("subject").click()
    page.until(lambda: page.all('[role="option"]'))
    assert page.run("return document.documentElement.scrollWidth") == PHONE[0]


def test_many_qualifiers_still_fit_a_phone(page: Page) -> None:
    page.resize(PHONE)
    page.open(FACT + "".join(f" | prize share: {year}" for year in range(1, 41)))
    assert len(page.all(".vertex")) == 85
    assert min(one.rect["width"] for one in page.all(".vertex rect")) > 60
    assert page.run("return document.documentElement.scrollWidth") == PHONE[0]


def test_little_moves_for_those_who_want_it_so(page: Page) -> None:
    moves = "return getComputedStyle(document.querySelector('.bar .inside')).transitionDuration"
    page.open(QUESTION)
    assert page.run(moves) != "0s"
    page.prefer(reduced_motion="reduce")
    assert page.run(moves) == "0s"


def test_a_server_with_a_token_goes_and_comes_back(shared_page: Page, page_folder: Path) -> None:
    with nary_process("serve", page_folder, "--port", 0, NARY_TOKEN="secret") as process, client_of(process) as served:
        page = Page(shared_page.driver, served.url)
        page.driver.get(served.url)
        page.one("#token-input").send_keys("wrong", Keys.ENTER)
        page.until(lambda: "not accepted" in page.text("#token"))
        page.one("#token-input").send_keys("secret", Keys.ENTER)
        page.until(lambda: page.all(".example"))
        page.open(QUESTION)  # the tab remembers
        assert page.texts(".answers .answer")
        process.kill()
        process.wait()
        page.click('.vertex[data-position="subject"]')
        page.until(lambda: "not responding" in page.text("#banner"))
    port = served.url.rstrip("/").rpartition(":")[2]
    with nary_process("serve", page_folder, "--port", port, NARY_TOKEN="secret") as process, client_of(process):
        page.until(lambda: not page.all("#banner"), "the banner goes")
        page.until(lambda: page.line().startswith("? | award received"), "what was asked is asked again")
        page.settle()
        assert page.texts(".answers .answer")
    assert [one for one in page.complaints() if one["source"] != "network"] == []
