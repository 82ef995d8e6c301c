"""Scores and predictions as tables: a row that joins with the data it is about."""

from pathlib import Path

import polars as pl
import pytest

from nary.errors import OutputError
from nary.inference.export.tables import column_names, prediction_table, score_table, write_table
from nary.inference.results import Answer, ElementPlausibility, EstimatedValue, Plausibility, Prediction
from nary.inference.scoring import ScoredFact

EDGES = pl.DataFrame(
    {"from": ["a", "b"], "to": ["b", "c"], "kind": ["r", "r"], "amount": ["5", "7"], "known": ["x", None]}
)


def scored(fact: str, value: float, line: int) -> ScoredFact:
    least = ElementPlausibility("value 1", "5^^number", "5", 2.0, 0.1, 0.2)
    return ScoredFact(fact, ("edges", line), Plausibility(fact, value, True, False, None, 0, [least]))


def test_scores_join_with_the_edges() -> None:
    scores = [
        scored("b | r | c | amount: 7^^number", 0.9, 2),
        scored("a | r | b | amount: 5^^number | known: x", 0.1, 1),
    ]
    table = score_table(scores, ("from", "kind", "to"))
    assert table.columns[:7] == ["from", "kind", "to", "amount", "known", "file", "line"]
    assert {"plausibility", "known_", "error"} <= set(table.columns)
    joined = EDGES.join(table, ["from", "to", "kind", "amount"], maintain_order="left")
    assert joined["plausibility"].to_list() == [0.1, 0.9]
    assert joined["fits_least_name"].to_list() == ["5", "5"]


def test_answers_join_on_ids() -> None:
    answers = [Answer("f1", "Acme", 0.7, 2.0, False), Answer("5^^quantity:kg", "5 kg", 0.2, 1.0, True)]
    table = prediction_table([(3, Prediction("p1 | WORKS_AT | ? | q: x | q: y", "object", answers))])
    assert table.select("line", "subject", "object", "q", "rank", "answer", "label").rows() == [
        (3, "p1", "?", "x;y", 1, "f1", "Acme"), (3, "p1", "?", "x;y", 2, "5", "5 kg")
    ]  # fmt: skip
    assert table["value_median"].to_list() == [None, None]
    assert prediction_table([]).height == 0


def test_expected_values_are_plain() -> None:
    value = EstimatedValue("7; 80% between 5 and 9", "5^^number", "7^^number", "9^^number", 0.8)
    answers = [Answer("7^^number", "7", 0.2, 2.0, False)]
    table = prediction_table([(1, Prediction("a | r | b | paid: ?", "value 1", answers, value=value))])
    assert table.select("paid", "answer", "value_median", "value_low", "value_high").rows() == [
        ("?", "7", "7", "5", "9")
    ]


def test_files(tmp_path: Path) -> None:
    for name in ("t.csv", "t.tsv", "t.parquet"):
        write_table(EDGES, tmp_path / name)
    assert pl.read_csv(tmp_path / "t.tsv", separator="\t", infer_schema=False).equals(EDGES)
    assert pl.read_parquet(tmp_path / "t.parquet").equals(EDGES)
    with pytest.raises(OutputError, match="cannot write a table"):
        write_table(EDGES, tmp_path / "t.xlsx")


def test_columns_are_called_as_where_they_came_from(tmp_path: Path) -> None:
    assert column_names(tmp_path) == ("subject", "relation", "object")
    (tmp_path / "mapping.toml").write_text('[[edges]]\nfile = "e.csv"\nstart = "from"\nend = "to"\ntype = "kind"\n')
    assert column_names(tmp_path) == ("from", "kind", "to")
