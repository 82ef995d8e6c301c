"""Make the notebooks from the scripts beside them, and execute them: ``python docs/notebooks/execute.py``.

A script is a sequence of cells: ``# %%`` begins one of code, ``# %% [markdown]`` one of text. Type checkers and linters
read the scripts; readers get the notebooks, with their outputs.
"""

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
_CELL = "# %%"
_TEXT = " [markdown]"


def notebook(script: Path) -> nbformat.NotebookNode:
    """The notebook of a script, without outputs."""
    cells = []
    for number, part in enumerate(script.read_text("utf-8").split(_CELL)[1:]):
        if part.startswith(_TEXT):
            lines = [line.removeprefix("#").removeprefix(" ") for line in part.removeprefix(_TEXT).strip().splitlines()]
            cell = nbformat.v4.new_markdown_cell("\n".join(lines))
        else:
            cell = nbformat.v4.new_code_cell(part.strip())
        cell["id"] = f"cell-{number}"  # the same each time
        cells.append(cell)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def execute(content: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    """Run all cells in a kernel that works in ``folder``; an error in a cell is raised."""
    client = NotebookClient(content, timeout=120, resources={"metadata": {"path": str(folder)}}, record_timing=False)
    executed = client.execute()
    for cell in executed["cells"]:
        if cell["cell_type"] == "code":  # a progress bar that is gone leaves an empty output
            cell["outputs"] = [one for one in cell["outputs"] if one.get("data", {}).get("text/html") != ""]
    return executed


def main() -> None:
    """Write every notebook."""
    for script in sorted(FOLDER.glob("*.py")):
        if script.name == Path(__file__).name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            executed = execute(notebook(script), Path(folder))
        executed["metadata"].pop("language_info", None)
        nbformat.write(executed, script.with_suffix(".ipynb"))
        sys.stdout.write(f"{script.with_suffix('.ipynb').name}\n")


if __name__ == "__main__":
    main()
