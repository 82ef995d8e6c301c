"""A file in the explorer: every line gets its result or its error, and all of it can be downloaded."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from apps.server.browser import Page
from selenium.webdriver.support.ui import Select

pytestmark = pytest.mark.browser

FACT = "Marie Curie | award received | Nobel Prize in Physics | point in time: 1903"
WRONG = "Marie Curie | born in | Nobel Prize in Physics"
QUESTION = "Marie Curie | award received | ?"
AS_JSON = '{"subject": "Niels Bohr", "relation": "born in", "object": "?"}'
TWO_GAPS = "Marie Curie | ? | ?"
UNKNOWN = "Mary Curie | born in | ?"
CONTENT = "\r\n".join([f"\ufeff{FACT}", "", WRONG, "no fact, “quoted”", f"  {QUESTION}", AS_JSON, UNKNOWN, TWO_GAPS])


@pytest.fixture
def file_page(page: Page, tmp_path: Path) -> Iterator[Page]:
    """The view for files; downloads go to ``tmp_path / "downloads"``."""
    behavior = {"behavior": "allow", "downloadPath": str(tmp_path / "downloads")}
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", behavior)
    page.go("#/file")
    yield page
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "default"})


def answer(page: Page, content: str | bytes, folder: Path) -> None:
    path = folder / "mine.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    page.one("#file-input").send_keys(str(path))
    page.button("Score and answer").click()


def downloaded(page: Page, button: str, path: Path) -> str:
    page.button(button).click()
    page.until(path.exists, f"{path} is downloaded")
    return path.read_bytes().decode()


def test_every_line_has_a_result_or_an_error(file_page: Page, tmp_path: Path) -> None:
    page = file_page
    assert "At most 20,000 lines and 5 MB" in page.text("#file")
    answer(page, CONTENT, tmp_path)
    page.until(lambda: page.texts("#file .progress") == ["7 of 7 lines done"])
    assert page.text("#file-results .body > p").startswith(
        "2 facts scored, 1 below 50% · 3 questions answered · 2 errors"
    )
    rows = page.texts("#file-results .results li")
    assert [row.split("\n")[0] for row in rows] == [f"line {number}" for number in (1, 3, 4, 5, 6, 7, 8)]
    assert "has 1 of the three parts" in rows[2]
    assert "unknown entity 'Mary Curie'. Did you mean Marie Curie?" in rows[5]

    table = list(csv.DictReader(downloaded(page, "Download CSV", tmp_path / "downloads/mine-results.csv").splitlines()))
    assert [row["kind"] for row in table if row["line"] in "1348"][:3] == ["fact", "fact", "error"]
    assert {row["line"] for row in table} == {"1", "3", "4", "5", "6", "7", "8"}
    assert table[0]["text"] == FACT
    assert table[0]["known"] == "true"
    assert float(table[0]["probability"]) > float(table[1]["probability"])
    assert table[2]["text"] == "no fact, “quoted”"
    asked = [row for row in table if row["line"] == "5"]
    assert [row["rank"] for row in asked] == ["1", "2", "3", "4", "5"]
    assert {row["answer"] for row in asked[:2]} == {"Nobel Prize in Physics", "Copley Medal"}

    text = downloaded(page, "Download JSON Lines", tmp_path / "downloads/mine-results.jsonl")
    lines = [json.loads(line) for line in text.splitlines()]
    assert [one["line"] for one in lines] == [1, 3, 4, 5, 6, 7, 8]
    assert [next(iter({*one} - {"line", "text"})) for one in lines] == [
        *("plausibility", "plausibility", "error", "prediction", "prediction", "error", "prediction")
    ]
    assert lines[4]["prediction"]["query"] == "Niels Bohr | born in | ?"


def test_the_least_plausible_first_and_errors_alone(file_page: Page, tmp_path: Path) -> None:
    page = file_page
    answer(page, CONTENT, tmp_path)
    page.until(lambda: page.texts("#file .progress") == ["7 of 7 lines done"])
    for choice, expected in [("least plausible first", ["line 3", "line 1"]), ("errors", ["line 4", "line 7"])]:
        Select(page.one("#file-results select")).select_by_visible_text(choice)
        page.until(lambda: [row.split("\n")[0] for row in page.texts(".results li")] == expected)  # noqa: B023
    Select(page.one("#file-results select")).select_by_visible_text("in order")
    page.click(".results a")
    page.until(lambda: page.line() == FACT)


def test_many_lines_go_in_parts_and_can_be_stopped(file_page: Page) -> None:
    page = file_page
    page.run("document.getElementById('file-text').value = arguments[0]", f"{QUESTION}\n" * 60)
    page.button("Score and answer").click()
    page.until(lambda: page.texts("#file .progress") == ["60 of 60 lines done"])
    assert len(page.all(".results li")) == 50
    page.button("Show more (10 left)").click()
    assert len(page.all(".results li")) == 60
    page.run("""
        const sent = window.fetch;
        let parts = 0;  // the second part waits until it is stopped
        window.fetch = async (address, options) => {
          if (String(address).includes("api/lines") && ++parts > 1)
            await new Promise((done) => options.signal.addEventListener("abort", done));
          return sent(address, options);
        };""")
    page.button("Score and answer").click()
    page.until(lambda: "25 of 60" in page.text("#file .progress"))
    page.button("Stop").click()
    page.until(lambda: "stopped" in page.text("#file .progress"))
    assert page.button("Download CSV")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b" \n\n", "There is no line to answer"),
        (b"x\n" * 20_001, "There are 20,001 lines"),
        (b"x" * 5_000_001, "The file has 5,000,001 bytes"),
        ("Łódź | in | ?".encode("utf-16"), "Mine.txt is not text in UTF-8"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_a_reason(
    file_page: Page, tmp_path: Path, content: bytes, message: str
) -> None:
    answer(file_page, content, tmp_path)
    file_page.until(lambda: message in file_page.text("#file .error"))
    assert not file_page.all("#file-results")
