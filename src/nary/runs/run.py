"""A trained model with the facts it knows: evaluate it, ask it, save it, load it again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from nary.config import Settings, read_toml, validate_settings, with_overrides
from nary.data.dataset import Dataset
from nary.data.files import atomic_path
from nary.data.transforms.simplify import primary_triples
from nary.errors import SettingError
from nary.evaluation.evaluate import evaluate
from nary.evaluation.protocol import Protocol
from nary.evaluation.ranks import Ranks
from nary.evaluation.report import Report
from nary.facts import Fact, FactTable, Position, Query, parse_fact, parse_query
from nary.inference import folder as model_folder
from nary.inference.card import card
from nary.inference.prediction import Known
from nary.inference.predictor import Predictor
from nary.inference.reports import load_reports, save_card, save_reports, with_report
from nary.inference.results import Completions, Explanation, Neighbors, Plausibility, Prediction, Suggestions
from nary.models.contract import Kind, Model
from nary.progress import Progress, no_progress
from nary.recipe import Recipe, recipe_from

MODEL = "model"
"""The model folder inside a run folder."""
RECIPE = "recipe.toml"
_TRIPLES_ONLY = "Qualifiers are left out: only primary triples were learned from and are ranked."


@dataclass
class Run:
    """A model, its settings and the facts it knows; recipe and folder too if it comes from a run folder."""

    dataset: Dataset
    model: Model
    settings: Settings
    recipe: Recipe | None = None
    folder: Path | None = None
    reports: list[Report] = field(default_factory=list)
    """What was evaluated of this model and kept."""
    saved_in: Path | None = None
    """The model folder it comes from."""

    def evaluate(
        self,
        facts: str | FactTable = "test",
        *,
        protocol: Protocol | None = None,
        progress: Progress = no_progress,
    ) -> Report:
        """Rank every element of the facts of a split, or of a table of facts with the ids of this run."""
        return self.rank(facts, protocol=protocol, progress=progress)[0]

    def rank(
        self,
        facts: str | FactTable = "test",
        *,
        protocol: Protocol | None = None,
        progress: Progress = no_progress,
    ) -> tuple[Report, Ranks]:
        """Like :meth:`evaluate`, with the rank of every query."""
        split, table = (facts, None) if isinstance(facts, str) else (self._split_of(facts), self.as_learned(facts))
        protocol = protocol or self.protocol()
        report, ranks = evaluate(self.model, self.dataset, split, protocol, progress=progress, table=table)
        if self.triples_only:
            report = replace(report, notes=[_TRIPLES_ONLY, *report.notes])
        return report, ranks

    @property
    def triples_only(self) -> bool:
        """Whether the recipe leaves qualifiers out."""
        return self.recipe is not None and not self.recipe.data.qualifiers

    def as_learned(self, facts: FactTable) -> FactTable:
        """``facts`` as the model knows facts: without their qualifiers, if the recipe leaves them out."""
        return primary_triples(facts) if self.triples_only else facts

    def _split_of(self, table: FactTable) -> str:
        """What to call these facts in a report."""
        return next((split for split, own in self.dataset.splits.items() if own == table), "other facts")

    def protocol(self, overrides: Mapping[str, Any] | None = None) -> Protocol:
        """The protocol of the recipe, with other values for keys such as ``evaluation.filter``."""
        own = self.recipe.evaluation if self.recipe else Protocol()
        tables = with_overrides({"evaluation": own.model_dump()}, overrides or {})
        if strange := set(tables) - {"evaluation"}:
            raise SettingError(f"{min(strange)} cannot be changed after the training", "Set keys of evaluation only.")
        return validate_settings(Protocol, tables["evaluation"], "evaluation")

    def predict(self, query: str | Query, k: int = 10, known: Known = "mark") -> Prediction | Completions:
        """The ``k`` best answers to a query such as ``"Marie Curie | award received | ? | point in time: 1911"``."""
        return self.predictor.predict(_query(query), k, known)

    def predict_many(self, queries: Sequence[str | Query], k: int = 10, known: Known = "mark") -> list[Prediction]:
        """The ``k`` best answers to each of many queries with one gap, asked together."""
        return self.predictor.predict_many([_query(query) for query in queries], k, known)

    def complete(self, query: str | Query, k: int = 10, known: Known = "mark") -> Completions:
        """The ``k`` best ways to fill all gaps of a query."""
        return self.predictor.complete(_query(query), k, known)

    def score(self, facts: Sequence[str | Fact]) -> list[Plausibility]:
        """How plausible each fact is, and which of its elements fits least."""
        return self.predictor.score([_fact(fact) for fact in facts])

    def suggest(self, fact: str | Fact, k: int = 10) -> Suggestions:
        """The ``k`` most probable qualifiers that a fact does not have yet."""
        return self.predictor.suggest(_fact(fact), k)

    def explain(self, fact: str | Fact, position: str | Position) -> Explanation:
        """Why the model gives the element at a position such as ``"object"`` or ``"value 1"`` as an answer."""
        chosen = Position.parse(position) if isinstance(position, str) else position
        return self.predictor.explain(_fact(fact), chosen)

    def similar(self, name: str, kind: Kind | None = None, k: int = 10) -> Neighbors:
        """The ``k`` entities, or relations, most similar to ``name``."""
        return self.predictor.similar(name, kind, k)

    @cached_property
    def predictor(self) -> Predictor:
        """What answers questions with this model."""
        learned_from = self.recipe.data.train_on if self.recipe else ["train"]
        held_out = None if "valid" in learned_from else self.dataset.splits.get("valid")
        return Predictor(self.model, self.dataset, held_out)

    def save(self, folder: str | Path) -> None:
        """Write the model folder, from which :func:`load_run` makes this run again."""
        with atomic_path(Path(folder)) as temporary:
            model_folder.save_description(temporary, self.dataset, self.settings, self._recipe_tables())
            self.save_trained(temporary)

    def save_trained(self, folder: Path) -> None:
        """Write into a model folder what is known after training: weights, metrics and the card."""
        model_folder.save_weights(folder, self.model)
        save_reports(folder, self.reports)
        save_card(folder, self._card(self.reports))

    def keep(self, report: Report) -> None:
        """Keep a report on one of the run's own splits, in the place of an older one by the same protocol.

        ``metrics.json`` and the card of the folder the run comes from change with it; a card somebody has edited stays.
        """
        if report.split not in self.dataset.splits:
            raise SettingError(f"a report on {report.split} is no part of the model", "Keep reports on its own splits.")
        before, after = self.reports, with_report(self.reports, report)
        if self.saved_in is not None and after != before:
            save_reports(self.saved_in, after)
            save_card(self.saved_in, self._card(after), self._card(before))
        self.reports = after

    def _card(self, reports: Sequence[Report]) -> str:
        return card(self.dataset, self.model, self.settings, self._recipe_tables(), reports)

    def _recipe_tables(self) -> dict[str, dict[str, Any]] | None:
        return self.recipe.as_tables() if self.recipe else None


def load_run(folder: str | Path) -> Run:
    """A trained model from a run folder or a model folder."""
    folder = Path(folder)
    recipe_path = folder / RECIPE
    is_run = recipe_path.is_file()
    inner = folder / MODEL if is_run else folder
    described = model_folder.read_description(inner)
    dataset = model_folder.load_dataset(inner, described)
    model = model_folder.load_model(inner, described, dataset)
    if is_run:
        recipe: Recipe | None = recipe_from(read_toml(recipe_path), str(recipe_path))
    else:
        with model_folder.reading(inner / model_folder.CONFIG):
            recipe = recipe_from(described.recipe) if described.recipe is not None else None
    return Run(dataset, model, described.settings, recipe, folder if is_run else None, load_reports(inner), inner)


def _query(query: str | Query) -> Query:
    return parse_query(query) if isinstance(query, str) else query


def _fact(fact: str | Fact) -> Fact:
    return parse_fact(fact) if isinstance(fact, str) else fact
