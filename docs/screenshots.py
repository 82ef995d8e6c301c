"""Take the screenshots of the explorer for the documentation.

    python docs/screenshots.py runs/demo/run

starts ``nary serve`` for the run, drives Chromium (Debian: chromium and chromium-driver), and writes
``docs/images/explorer*.png``.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

IMAGES = Path(__file__).parent / "images"
QUESTION = "Ernest Hemingway | award received | ?"
STORED = "Albert Einstein | award received | ? | point in time: 1921"
FACT = "Marie Curie | award received | Nobel Prize in Physics | point in time: 1903 | together with: Pierre Curie"
SCREENSHOTS: dict[str, tuple[tuple[int, int], str, str]] = {
    "explorer": ((1240, 1100), "light", urlencode({"fact": STORED})),
    "explorer-why": ((1240, 1120), "dark", urlencode({"fact": FACT, "why": "object"})),
    "explorer-phone": ((360, 900), "light", urlencode({"fact": QUESTION})),
    "explorer-entity": ((1240, 1160), "light", "/entity/Albert%20Einstein"),
    "explorer-relation": ((1240, 1000), "light", "/relation/educated%20at"),
    "explorer-file": ((1240, 1180), "light", "/file"),
}
"""The window size, color scheme and the part of the URL after # of each file."""
LINES = """Marie Curie | award received | ? | point in time: 1911
Marie Curie | born in | Warsaw
Albert Einstein | award received | Nobel Peace Prize | point in time: 1921
Mary Curie | born in | ?
Niels Bohr | educated at | ?"""
READY = """
    return document.querySelector(".view:not([hidden]) .body > *")
        && !document.querySelector('[aria-busy="true"]')
        && (!location.hash.includes("why") || document.querySelector(".contributions"));
"""
ANSWER_LINES = """
    document.getElementById("file-text").value = arguments[0];
    document.querySelector("#file button.main").click();
"""
ANSWERED = "return document.querySelector('#file .progress').innerText.includes('5 of 5')"


@contextmanager
def served(run: str) -> Iterator[str]:
    """Serve ``run``; yields the address."""
    command = [sys.executable, "-c", "from nary.apps.cli.main import main; main()", "serve", run, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        if process.stdout is None or not (address := re.search(r"http://\S+", process.stdout.readline())):
            sys.exit(f"no server: try nary serve {run}")
        yield address[0]
    finally:
        process.terminate()
        process.wait()


@contextmanager
def browser() -> Iterator[Any]:
    """Start headless Chromium."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        try:
            yield driver
        finally:
            driver.quit()


def wait(driver: Any, name: str, condition: str) -> None:
    """Wait until a script returns something true."""
    end = time.monotonic() + 60
    while not driver.execute_script(condition):
        if time.monotonic() > end:
            sys.exit(f"{name}: the page kept loading")
        time.sleep(0.1)


def take(driver: Any, address: str, name: str) -> None:
    """Write one screenshot."""
    (width, height), scheme, hash = SCREENSHOTS[name]
    features = [
        {"name": "prefers-color-scheme", "value": scheme},
        {"name": "prefers-reduced-motion", "value": "reduce"},
    ]
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get("about:blank")
    driver.get(f"{address}#{hash}")
    wait(driver, name, READY)
    if hash == "/file":
        driver.execute_script(ANSWER_LINES, LINES)
        wait(driver, name, ANSWERED)
    driver.execute_script("document.documentElement.style.scrollbarWidth = 'none'")
    time.sleep(0.3)
    driver.save_screenshot(str(IMAGES / f"{name}.png"))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with served(sys.argv[1]) as address, browser() as driver:
        for name in SCREENSHOTS:
            take(driver, address, name)
