"""Reports as text, CSV, LaTeX and JSON."""

import csv
import json

from nary.evaluation.protocol import Protocol
from nary.evaluation.report import Report

FIGURES = {
    "mrr": 0.25,
    "hits@1": 0.125,
    "hits@3": 0.3756,
    "hits@5": 0.5,
    "hits@10": 1.0,
    "mr": 1234.5,
    "count": 4321,
    "optimistic": 0.26,
    "pessimistic": 0.24,
}
REPORT = Report("toy", "test", Protocol(), {"entity": FIGURES, "value[relation=a_b & c]": FIGURES}, ["Mind the gap."])


def test_table() -> None:
    assert REPORT.table().splitlines() == [
        "toy, test",
        "                           MRR  Hits@1  Hits@3  Hits@5  Hits@10         MR  Queries  MRR opt.  MRR pess.",
        "entity                   0.250   0.125   0.376   0.500    1.000  1,234.500    4,321     0.260      0.240",
        "value[relation=a_b & c]  0.250   0.125   0.376   0.500    1.000  1,234.500    4,321     0.260      0.240",
        "Protocol: filter slots (train, valid, test); ties mean; candidates all; positions all.",
        "Mind the gap.",
    ]
    assert str(REPORT) == REPORT.table()


def test_csv_is_exact() -> None:
    lines = REPORT.csv().splitlines()
    assert lines[3:] == [f"# {line}" for line in REPORT.table().splitlines()[-2:]]
    rows = list(csv.DictReader(lines[:3]))
    assert [row["group"] for row in rows] == ["entity", "value[relation=a_b & c]"]
    assert rows[0] == {"dataset": "toy", "split": "test", "group": "entity", **{k: str(v) for k, v in FIGURES.items()}}


def test_latex() -> None:
    lines = REPORT.latex().splitlines()
    assert lines[0] == r"\begin{tabular}{lrrrrrrrrr}"
    assert lines[4] == r"entity & 0.250 & 0.125 & 0.376 & 0.500 & 1.000 & 1,234.500 & 4,321 & 0.260 & 0.240 \\"
    assert lines[5].startswith(r"value[relation=a\_b \& c] & ")
    assert lines[-2] == r"\end{tabular}"
    assert lines[-1] == rf"\par{{\footnotesize toy, test. {Protocol().describe()} Mind the gap.}}"
    assert all(line.count("&") - line.count(r"\&") == 9 for line in lines if line.endswith(r" \\"))


def test_json() -> None:
    found = json.loads(json.dumps(REPORT.as_dict()))
    assert found["dataset"] == "toy"
    assert found["split"] == "test"
    assert found["protocol"] == Protocol().as_dict()
    assert found["metrics"]["entity"] == FIGURES
    assert found["notes"] == ["Mind the gap."]


def test_nothing_to_report() -> None:
    empty = Report("toy", "test", Protocol(), {})
    assert empty.table().splitlines()[-1] == Protocol().describe()
    assert empty.csv().startswith("dataset,split,group,mrr")
    assert r"\end{tabular}" in empty.latex()
