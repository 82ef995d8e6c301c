"""Evaluate a model on a split: rank every query, compute the metrics, write the report."""

from nary.data.dataset import Dataset
from nary.evaluation.guesses import measure_guesses
from nary.evaluation.known_answers import KnownAnswers
from nary.evaluation.metrics import measure, warnings
from nary.evaluation.protocol import Protocol
from nary.evaluation.queries import Candidates, subjects_and_objects
from nary.evaluation.ranks import Ranks, rank
from nary.evaluation.report import Report
from nary.evaluation.values import ValueRanges
from nary.facts import FactTable
from nary.models.base import Model
from nary.progress import Progress, no_progress
from nary.wording import counted
from nary.workers import ALONE, Workers


def evaluate(
    model: Model,
    dataset: Dataset,
    split: str = "test",
    protocol: Protocol | None = None,
    *,
    progress: Progress = no_progress,
    table: FactTable | None = None,
    workers: Workers = ALONE,
) -> tuple[Report, Ranks]:
    """Rank every element of every fact of a split under ``protocol``, by default the published rules.

    ``table`` holds other facts to rank, encoded with the vocabulary of the dataset. Of several ``workers`` each ranks a
    share, and all have the result.
    """
    protocol = protocol or Protocol()
    facts = dataset[split] if table is None else table
    known = KnownAnswers([dataset[name] for name in protocol.filter_splits if name in dataset.splits], protocol.filter)
    candidates = None
    if protocol.candidates == "seen":
        candidates = subjects_and_objects(dataset.facts, len(dataset.vocabulary.entities))
    ranges = ValueRanges(dataset.train, dataset.vocabulary) if len(dataset.vocabulary.scales.ids) else None
    ranks = rank(model, facts, known, protocol, progress, candidates, ranges, workers)
    metrics = measure(ranks)
    literals = {} if ranges is None or ranks.guesses is None else measure_guesses(ranks.guesses, ranges)
    notes = [*_notes(ranks, candidates), *warnings(metrics)]
    return Report(dataset.name, split, protocol, metrics, notes, literals), ranks


def _notes(ranks: Ranks, candidates: Candidates | None) -> list[str]:
    notes = []
    if candidates is not None:
        notes.append(f"Subjects and objects are ranked among {candidates.sum():,} of {len(candidates):,} entities.")
    if ranks.left_out:
        notes.append(
            f"{counted(ranks.left_out, 'query is', 'queries are')} left out, because the answer is not a candidate."
        )
    if not len(ranks):
        notes.append("There are no queries.")
    return notes
