"""A small model of the embedded dataset, trained once, and a server for it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from apps.server.browser import DESKTOP, Page, browser
from apps.server.laureates import laureates
from apps.server.running import Served, serving
from runs.small import small_run

from nary.data.load import load
from nary.runs import TrainedModel, load_model

SCRIPT = "<script>alert('Ada')</script>"
"""The label of Ada Yonath in these tests."""


@pytest.fixture(scope="session")
def nobel_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run folder of a model that has learned a little."""
    folder = tmp_path_factory.mktemp("served") / "run"
    data = load("nobel")
    labeled = replace(data, vocabulary=replace(data.vocabulary, labels={"Ada Yonath": SCRIPT}))
    small_run(folder, dataset=labeled, training__epochs=1, training__batch_size=256)
    return folder


@pytest.fixture(scope="session")
def nobel_run(nobel_folder: Path) -> TrainedModel:
    """The same model in this process."""
    return load_model(nobel_folder)


@pytest.fixture(scope="session")
def served(nobel_folder: Path) -> Iterator[Served]:
    """A server for the model, shared by all tests that leave it as it is."""
    with serving(nobel_folder) as running:
        yield running


@pytest.fixture(scope="session")
def page_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run folder of a model of facts that are easy to browse."""
    folder = tmp_path_factory.mktemp("page") / "run"
    small_run(folder, dataset=laureates(), training__epochs=60, model__hidden_dim=32)
    return folder


@pytest.fixture(scope="session")
def shared_page(page_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A browser on a server for this model."""
    with browser(tmp_path_factory.mktemp("profile")) as driver, serving(page_folder) as served:
        yield Page(driver, served.url)


@pytest.fixture
def page(shared_page: Page) -> Iterator[Page]:
    """The page, on a desktop in the light; afterwards nothing has run that should not, nor failed."""
    shared_page.resize(DESKTOP)
    shared_page.prefer(color_scheme="light")
    shared_page.complaints()
    yield shared_page
    assert not shared_page.run("return window.hacked")
    # What the server refuses is reported as coming from the network; the tests that make it refuse expect that.
    assert [one for one in shared_page.complaints() if one["source"] != "network"] == []
