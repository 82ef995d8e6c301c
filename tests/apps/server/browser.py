"""A real browser on the explorer page: Debian's Chromium without a window, driven through chromedriver."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.remote.webelement import WebElement

_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
_PATIENCE = 20.0  # seconds; a machine may be busy
_VISIBLE = """
    [...document.querySelectorAll(arguments[0])].filter((one) => one.checkVisibility({ visibilityProperty: true }))
""".strip()
DESKTOP = (1280, 900)
PHONE = (360, 740)


class Page:
    """The explorer page in a browser, with the few moves that tests make."""

    def __init__(self, driver: Any, url: str) -> None:
        self.driver = driver
        self.url = url

    def open(self, fact: str | None = None, **state: str) -> None:
        """Load the page as a link does; ``state`` is the rest of the address."""
        self.go(f"#{urlencode({'fact': fact, **state})}" if fact else "")

    def go(self, hash: str) -> None:
        """Load the page at an address of its own, such as ``#/about``."""
        self.driver.get("about:blank")
        self.driver.get(self.url + hash)
        self.settle()

    def all(self, selector: str) -> list[WebElement]:
        """The visible elements."""
        result: list[WebElement] = self.run(f"return {_VISIBLE}", selector)
        return result

    def one(self, selector: str) -> WebElement:
        """The first visible element, once there is one."""
        result: WebElement = self.until(lambda: next(iter(self.all(selector)), None), selector)
        return result

    def texts(self, selector: str) -> list[str]:
        """What they say."""
        result: list[str] = self.run(f"return {_VISIBLE}.map((one) => one.innerText)", selector)
        return result

    def text(self, selector: str) -> str:
        """What the first visible element says, once there is one."""
        return str(self.until(lambda: self.texts(selector), selector)[0])

    def click(self, selector: str) -> None:
        """Click the first visible element, again where the page replaced it in between."""

        def clicked() -> bool:
            self.one(selector).click()
            return True

        self.until(clicked, selector)

    def field(self, name: str) -> WebElement:
        """The field with this caption, such as ``subject`` or ``value 1``."""
        return self.one(f'input[aria-label="{name}"]')

    def value(self, name: str) -> str:
        return str(self.until(lambda: [self.field(name).get_attribute("value")], name)[0])

    def line(self) -> str:
        return str(self.one("#one-line").get_attribute("value"))

    def button(self, text: str) -> WebElement:
        """The first button with this text in it."""
        result: WebElement = self.until(lambda: next((b for b in self.all("button") if text in b.text), None), text)
        return result

    def choose(self, name: str, typed: str) -> None:
        """Type into a field and click the first name offered."""
        field = self.field(name)
        field.click()
        field.send_keys(typed)
        self.until(lambda: self._offered(typed), "names are offered")
        self.click(".options li")
        self.settle()

    def _offered(self, typed: str) -> bool:
        offered = self.texts(".options li")
        return bool(offered) and all(typed.lower() in one.lower() for one in offered)

    def until(self, condition: Callable[[], Any], what: str = "") -> Any:
        """Wait for something true."""
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                if result := condition():
                    return result
            except StaleElementReferenceException:
                pass  # the page has just changed
            assert time.monotonic() < end, f"waited too long: {what}\n{self.texts('body')[0]}"
            time.sleep(0.02)

    def settle(self) -> None:
        """Wait until nothing is loading: the page has asked for something, and no card is busy."""
        self.until(lambda: self.all(".card .body > *"), "loaded")
        time.sleep(0.05)  # for what a click has just started
        self.until(lambda: not self.all('[aria-busy="true"]'), "settled")

    def run(self, script: str, *arguments: object) -> Any:
        """Run JavaScript and return what it returns."""
        return self.driver.execute_script(script, *arguments)

    def resize(self, size: tuple[int, int]) -> None:
        """Give the window another size; narrow ones are phones."""
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def prefer(self, **media: str) -> None:
        """Say what the system prefers: ``color_scheme="dark"``, ``reduced_motion="reduce"``."""
        features = [{"name": f"prefers-{name.replace('_', '-')}", "value": value} for name, value in media.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def complaints(self) -> list[dict[str, Any]]:
        """What the browser has written to its console since the last call."""
        result: list[dict[str, Any]] = self.driver.get_log("browser")
        return result


@contextmanager
def browser(profile: Path) -> Iterator[Any]:
    """A browser with an empty profile; the test is skipped where there is none."""
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not chromedriver:
        pytest.skip("the tests of the page need a browser: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*_FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(chromedriver))
    try:
        yield driver
    finally:
        driver.quit()
