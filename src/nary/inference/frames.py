"""Results as data frames: a row for each item, after what it is about."""

from collections.abc import Callable
from typing import Any

import polars as pl

from nary.inference.explanation_results import Explanation, RuleList
from nary.inference.result import Result
from nary.inference.results import Completions, Neighbors, Plausibility, Prediction, StoredFacts, Suggestions

_TEXT, _NUMBER, _WHOLE, _FLAG = pl.String, pl.Float64, pl.Int64, pl.Boolean
_KNOWN = {"known": _FLAG, "stored": _TEXT, "split": _TEXT, "matches": _WHOLE}
_COLUMNS: dict[type[Result[Any]], dict[str, Any]] = {
    Prediction: {
        "query": _TEXT,
        "position": _TEXT,
        "rank": _WHOLE,
        "name": _TEXT,
        "label": _TEXT,
        "probability": _NUMBER,
        "score": _NUMBER,
        **_KNOWN,
        "value_median": _TEXT,
        "value_low": _TEXT,
        "value_high": _TEXT,
    },
    Completions: {"query": _TEXT, "rank": _WHOLE, "fact": _TEXT, "probability": _NUMBER, "score": _NUMBER, **_KNOWN},
    Plausibility: {
        "fact": _TEXT,
        "plausibility": _NUMBER,
        "position": _TEXT,
        "name": _TEXT,
        "label": _TEXT,
        "rank": _NUMBER,
        "probability": _NUMBER,
        "fit": _NUMBER,
    },
    Suggestions: {
        "fact": _TEXT,
        "rank": _WHOLE,
        "attribute": _TEXT,
        "attribute_label": _TEXT,
        "value": _TEXT,
        "value_label": _TEXT,
        "probability": _NUMBER,
        **_KNOWN,
    },
    Explanation: {
        "fact": _TEXT,
        "position": _TEXT,
        "name": _TEXT,
        "label": _TEXT,
        "contribution": _NUMBER,
        "score_without": _NUMBER,
        "probability_without": _NUMBER,
    },
    RuleList: {
        "kind": _TEXT,
        "relation": _TEXT,
        "target": _TEXT,
        "body": _TEXT,
        "answer": _TEXT,
        "support": _WHOLE,
        "cases": _WHOLE,
        "confidence": _NUMBER,
    },
    StoredFacts: {"fact": _TEXT, "label": _TEXT, "split": _TEXT},
    Neighbors: {"name": _TEXT, "label": _TEXT, "similarity": _NUMBER},
}
_SPECIAL: dict[str, Callable[[Any], Any]] = {
    "stored": lambda item: None if item.stored is None else item.stored.fact,
    "split": lambda item: None if item.stored is None else item.stored.split,
}


def result_frame(result: Result[Any]) -> pl.DataFrame:
    """A row for each item of ``result``, numbered by ``rank`` if it has none; equal columns for equal types."""
    rows = []
    value = result.value if isinstance(result, Prediction) else None
    estimate = {f"value_{part}": getattr(value, part, None) for part in ("median", "low", "high")}
    for rank, item in enumerate(result, 1):
        row = {"rank": rank, **estimate, **vars(result), **vars(item)}
        if hasattr(item, "stored"):
            row |= {name: read(item) for name, read in _SPECIAL.items()}
        rows.append(row)
    columns = _COLUMNS[type(result)]
    return pl.DataFrame({name: [row[name] for row in rows] for name in columns}, schema=columns)
