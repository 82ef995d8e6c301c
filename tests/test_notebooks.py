"""The notebooks in docs/notebooks: made from their scripts, without errors, and still running in a real kernel."""

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parent.parent / "docs" / "notebooks"
NAMES = ("first-steps", "your-data-to-a-service")
nbformat = pytest.importorskip("nbformat")


@pytest.fixture(scope="module")
def execute() -> ModuleType:
    """The script that makes the notebooks."""
    pytest.importorskip("nbclient")
    spec = importlib.util.spec_from_file_location("execute", FOLDER / "execute.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_made_from_its_script(name: str, execute: ModuleType) -> None:
    made = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    expected = execute.notebook(FOLDER / f"{name}.py")
    assert [cell["source"] for cell in made["cells"]] == [cell["source"] for cell in expected["cells"]], (
        "run python docs/notebooks/execute.py"
    )
    outputs = [output for cell in made["cells"] for output in cell.get("outputs", ())]
    assert outputs
    assert {output["output_type"] for output in outputs} <= {"execute_result", "display_data"}
    assert "/home/" not in (FOLDER / f"{name}.ipynb").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_in_a_kernel(name: str, execute: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("ipykernel")
    assert os.environ["NARY_OFFLINE"]
    executed = execute.execute(execute.notebook(FOLDER / f"{name}.py"), tmp_path)
    outputs = [output for cell in executed["cells"] for output in cell.get("outputs", ())]
    assert not [output for output in outputs if output["output_type"] == "error"]
    shown = [output["data"] for output in outputs if "data" in output]
    assert any("<svg" in data.get("text/html", "") for data in shown)  # a fact, drawn
    assert any("MRR" in data.get("text/html", "") for data in shown)  # a report
