"""What every test gets: no network, a cache of its own, and the benchmark files where they are."""

import os
import signal

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests run side by side; set before torch is imported

from pathlib import Path

import pytest
from hypothesis import settings

# A shell starts what is in the background deaf to interrupts, and its children with it; tests send them some.
signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("fresh", deadline=None)  # a busy machine is no failure
settings.register_profile("same", settings.get_profile("fresh"), derandomize=True)
settings.load_profile("same")  # a change that breaks nothing fails nothing; --hypothesis-profile=fresh looks further

collect_ignore = ["plugins"]  # packages that a test installs


@pytest.fixture(autouse=True)
def _own_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("NARY_OFFLINE", "1")
    monkeypatch.setenv("NARY_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def benchmark_data() -> Path:
    """The folder with the public benchmark files."""
    folder = os.environ.get("NARY_DATA_HOME")
    if not folder or not Path(folder).is_dir():
        pytest.skip("NARY_DATA_HOME names no folder with the benchmark files")
    return Path(folder)
