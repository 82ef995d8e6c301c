"""Run docs/from-neo4j.md, from a generated graph to scored edges."""

import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl

PAGE = Path(__file__).parent.parent / "docs" / "from-neo4j.md"


def test_the_commands_of_the_page_run(tmp_path: Path) -> None:
    blocks = re.findall(r"^```(sh|python)\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    outputs = []
    for language, block in blocks:
        program = ["bash", "-euc"] if language == "sh" else [sys.executable, "-c"]
        done = subprocess.run(
            [*program, block], cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert "edges.csv  amount      qualifier: number" in outputs[1]
    assert "WORKS_AT | ?" in outputs[4]
    assert "value: " in outputs[5]
    assert "1 new entity: 'P9001'" in outputs[-1]

    answers = pl.read_csv(tmp_path / "answers.csv")
    assert answers["answer"].str.contains("^F[0-9]+$").all()  # firms, by their ids
    assert answers.group_by("line").len()["len"].to_list() == [5, 5]
    edges, scores = (pl.read_csv(tmp_path / name) for name in ("scored-edges.csv", "scores.csv"))
    for column in (":START_ID", ":TYPE", ":END_ID"):
        assert edges[column].equals(scores[column])  # row by row
    errors = pl.read_csv(tmp_path / "company" / "errors.csv")
    wrong = edges["id"].is_in(errors["id"].implode())
    assert edges.filter(wrong)["plausibility"].mean() < edges.filter(~wrong)["plausibility"].mean()
