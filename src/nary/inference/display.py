"""Results for people: a caption and a table, as text and, with bars, as HTML for notebooks."""

from collections.abc import Callable, Sequence
from typing import Any

from nary.html import Bar, table_html
from nary.inference.explanation_results import Explanation, RuleList
from nary.inference.result import Result
from nary.inference.results import (
    Answer,
    Completion,
    Completions,
    Neighbors,
    Plausibility,
    Prediction,
    StoredFacts,
    Suggestion,
    Suggestions,
)
from nary.tables import Column, Table, left, right
from nary.wording import counted

_Shown = tuple[str, list[Column], list[list[str]]]
"""The caption, the columns and the rows."""


def result_text(result: Result[Any]) -> str:
    """The caption, the table and the notes as plain text."""
    caption, columns, rows = _shown(result)
    return "\n".join([caption, Table(columns, rows).text(), *_notes(result)])


def result_html(result: Result[Any]) -> str:
    """The caption, the table and the notes as HTML."""
    caption, columns, rows = _shown(result)
    return table_html(Table(columns, rows), caption, _notes(result))


def _shown(result: Result[Any]) -> _Shown:
    return _SHOWN[type(result)](result)


def _notes(result: Result[Any]) -> Sequence[str]:
    value = result.value if isinstance(result, Prediction) else None
    return [*getattr(result, "notes", ()), *([f"value: {value.label}"] if value else [])]


def _share(value: float) -> Bar:
    return Bar(f"{value:.1%}", value)


def _known(item: Answer | Completion | Suggestion) -> str:
    return "" if item.stored is None else f"{item.stored.split}: {item.stored.label}"


def _prediction(result: Prediction) -> _Shown:
    rows = [[one.label, _share(one.probability), f"{one.score:.2f}", _known(one)] for one in result.answers]
    columns = [*left("answer", "probability"), *right("score"), *left("known from")]
    return f"{result.query}   ({result.position})", columns, rows


def _completions(result: Completions) -> _Shown:
    rows = [
        [*(element.label for element in one.elements), _share(one.probability), _known(one)] for one in result.answers
    ]
    return result.query, left(*result.positions, "probability", "known from"), rows


def _plausibility(result: Plausibility) -> _Shown:
    rows = [[one.position, one.label, _share(one.fit), f"{one.rank:,g}"] for one in result.elements]
    caption = f"{result.fact}: {result.plausibility:.1%} plausible"
    return caption, [*left("position", "element", "fit"), *right("rank")], rows


def _suggestions(result: Suggestions) -> _Shown:
    rows = [[one.attribute_label, one.value_label, _share(one.probability), _known(one)] for one in result.suggestions]
    return result.fact, left("attribute", "value", "probability", "known from"), rows


def _explanation(result: Explanation) -> _Shown:
    largest = max((abs(one.contribution) for one in result.contributions), default=0.0) or 1.0
    rows = [
        [one.position, one.label, Bar(f"{one.contribution:+.2f}", abs(one.contribution) / largest)]
        for one in result.contributions
    ]
    caption = f"{result.fact}   ({result.position}, rank {result.rank:,g}, {result.probability:.1%})"
    return caption, left("position", "element", "contribution"), rows


def _rules(result: RuleList) -> _Shown:
    rows = [
        [one.body, one.target, one.answer or "", _share(one.confidence), f"{one.support:,} of {one.cases:,}"]
        for one in result.rules
    ]
    columns = [*left("if", "then", "is", "confidence"), *right("held in")]
    return f"{len(result.rules):,} of {counted(result.total, 'rule')}", columns, rows


def _stored_facts(result: StoredFacts) -> _Shown:
    rows = [[one.label, one.split] for one in result.facts]
    return f"{result.pattern}: {counted(result.total, 'stored fact')}", left("fact", "split"), rows


def _neighbors(result: Neighbors) -> _Shown:
    rows = [[one.label, Bar(f"{one.similarity:.3f}", one.similarity)] for one in result.neighbors]
    return f"Similar to {result.label}", left(result.kind, "similarity"), rows


_SHOWN: dict[type[Result[Any]], Callable[[Any], _Shown]] = {
    Prediction: _prediction,
    Completions: _completions,
    Plausibility: _plausibility,
    Suggestions: _suggestions,
    Explanation: _explanation,
    RuleList: _rules,
    StoredFacts: _stored_facts,
    Neighbors: _neighbors,
}
