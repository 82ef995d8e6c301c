"""A trained model with the facts it knows: evaluate, query, save and load it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from nary.config import Settings, validate_settings, with_overrides
from nary.data.dataset import Dataset
from nary.data.transforms.simplify import primary_triples
from nary.errors import OutputError, SettingError
from nary.evaluation.evaluate import evaluate
from nary.evaluation.protocol import Protocol
from nary.evaluation.ranks import Ranks
from nary.evaluation.report import Report
from nary.facts import Fact, FactTable, Position, Query, Vocabulary, parse, parse_fact, parse_query
from nary.files.locks import folder_lock
from nary.files.manifest import FolderUpdate, updating, write_manifest
from nary.files.writing import atomic_path
from nary.html import table_html
from nary.inference import folder as model_folder
from nary.inference.card import card
from nary.inference.entity_index import EntityIndex
from nary.inference.explanation_results import Explanation, RuleList
from nary.inference.prediction import Known
from nary.inference.predictor import Predictor
from nary.inference.profile_results import DoubtfulFacts, EntityProfile, MissingFacts, RelationProfile
from nary.inference.provenance import Update
from nary.inference.results import Completions, Neighbors, Plausibility, Prediction, StoredFacts, Suggestions
from nary.models.base import Kind, Model
from nary.progress import Progress, shown
from nary.recipe import Recipe
from nary.tables import Table, left
from nary.workers import ALONE, Workers

_WAIT = 60.0  # seconds for others that store something in the same folder
_TRIPLES_ONLY = "Qualifiers are left out: the model was trained on primary triples and is ranked on them."


@dataclass
class TrainedModel:
    """A trained ``module`` with its dataset and recipe.

    ``reports`` are the evaluations stored with the model, ``weights_digest`` is the checksum of its weights in a
    folder, ``updates`` lists what was added after training, and ``unseen`` says how names without facts are treated.
    """

    module: Model
    dataset: Dataset
    recipe: Recipe
    reports: list[Report] = field(default_factory=list)
    weights_digest: str | None = field(default=None, compare=False)
    updates: list[Update] = field(default_factory=list)
    unseen: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"TrainedModel({self.name} on {self.dataset.name}, {self.num_parameters:,} parameters, {self.device})"

    def _repr_html_(self) -> str:
        """A summary of the model and its metrics, for notebooks."""
        rows = [["data", repr(self.dataset)], ["parameters", f"{self.num_parameters:,}"], ["device", str(self.device)]]
        about = table_html(Table(left("", ""), rows), self.name)
        return about + "".join(report._repr_html_() for report in self.reports)

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.recipe.model_name

    @property
    def settings(self) -> Settings:
        """The settings of the model."""
        return self.recipe.model

    @property
    def vocabulary(self) -> Vocabulary:
        """The entities and relations that the model knows."""
        return self.dataset.vocabulary

    @property
    def fingerprint(self) -> str:
        """A hash of settings, facts and weights. Models with the same fingerprint give the same answers."""
        digest = hashlib.sha256(f"{self.recipe.model!r}\n{self.dataset.fingerprint}\n".encode())
        if self.weights_digest is not None:
            digest.update(self.weights_digest.encode())
        else:
            for tensor in self.module.state_dict().values():
                digest.update(tensor.cpu().contiguous().view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()

    @property
    def num_parameters(self) -> int:
        """The number of trained parameters."""
        return sum(parameter.numel() for parameter in self.module.parameters())

    @property
    def device(self) -> torch.device:
        """The device of the model."""
        return self.predictor.context.scorer.device

    def to(self, device: str | torch.device) -> "TrainedModel":
        """Move the model to ``device`` (``"cpu"``, ``"cuda"``, or ``"auto"``) and return it."""
        self.module.to(resolve_device(device))
        self.__dict__.pop("predictor", None)
        return self

    def use_index(self) -> "TrainedModel":
        """Use an approximate index to predict entities from now on, and return the model.

        Use this for very large vocabularies. The index is built from the current vectors (extra ``faiss``). Predictions
        may miss answers and are marked as approximate; everything else stays exact. Moving the model to another device
        removes the index.
        """
        self.predictor.context.index = EntityIndex(self.module)
        return self

    def evaluate(
        self,
        facts: str | FactTable = "test",
        *,
        protocol: Protocol | None = None,
        progress: Progress | bool = True,
        workers: Workers = ALONE,
    ) -> Report:
        """Rank every element of the facts in a split, or in a table of facts with the ids of this model.

        ``progress`` is called during ranking; True shows a progress bar in a terminal or notebook, False shows nothing.
        Each of several ``workers`` ranks a share of the queries, and all return the same report.
        """
        return self.rank(facts, protocol=protocol, progress=progress, workers=workers)[0]

    def rank(
        self,
        facts: str | FactTable = "test",
        *,
        protocol: Protocol | None = None,
        progress: Progress | bool = True,
        workers: Workers = ALONE,
    ) -> tuple[Report, Ranks]:
        """Like :meth:`evaluate`, but also return the rank of every query."""
        if isinstance(facts, str):
            split, table = facts, None
        else:
            split, table = self._split_of(facts), self.without_unused_qualifiers(facts)
        protocol = protocol or self.protocol()
        with shown(progress, "Ranking") as called:
            report, ranks = evaluate(
                self.module, self.dataset, split, protocol, progress=called, table=table, workers=workers
            )
        if self.triples_only:
            report = replace(report, notes=[_TRIPLES_ONLY, *report.notes])
        return report, ranks

    @property
    def triples_only(self) -> bool:
        """Whether the recipe omits qualifiers."""
        return not self.recipe.data.qualifiers

    def without_unused_qualifiers(self, facts: FactTable) -> FactTable:
        """``facts`` as the model sees them: without qualifiers if the recipe omits them."""
        return primary_triples(facts) if self.triples_only else facts

    def _split_of(self, facts: FactTable) -> str:
        """What to call these facts in a report."""
        return next((split for split, table in self.dataset.splits.items() if table == facts), "other facts")

    def protocol(self, overrides: Mapping[str, Any] | None = None) -> Protocol:
        """The protocol of the recipe; ``overrides`` changes keys such as ``evaluation.filter``."""
        tables = with_overrides({"evaluation": self.recipe.evaluation.model_dump()}, overrides or {})
        if other_tables := set(tables) - {"evaluation"}:
            raise SettingError(
                f"{min(other_tables)} cannot be changed after training", "Only keys of evaluation can be set."
            )
        return validate_settings(Protocol, tables["evaluation"], "evaluation")

    def predict(self, query: str | Query, k: int = 10, known: Known = "first") -> Prediction:
        """The ``k`` best answers to a query with one gap, such as ``"Marie Curie | award received | ?"``.

        ``known`` sets where known answers appear, by default ``"first"``; see
        :data:`nary.inference.prediction.Known`.
        """
        return self.predict_many([query], k, known)[0]

    def predict_many(self, queries: Sequence[str | Query], k: int = 10, known: Known = "first") -> list[Prediction]:
        """The ``k`` best answers to each query; the queries are scored as one batch."""
        parsed = [_query(query) for query in queries]
        return self._predictor_for(parsed).predict_many(parsed, k, known)

    def complete(self, query: str | Query, k: int = 10, known: Known = "first") -> Completions:
        """The ``k`` best ways to fill all gaps of a query."""
        return self.predictor.complete(_query(query), k, known)

    def score(self, facts: Sequence[str | Fact]) -> list[Plausibility]:
        """How plausible each fact is, and which element fits worst."""
        parsed = [_fact(fact) for fact in facts]
        return self._predictor_for(parsed).score(parsed)

    def suggest(self, fact: str | Fact, k: int = 10, known: Known = "first") -> Suggestions:
        """The ``k`` best qualifiers that a fact does not have yet: from stored facts, then the most probable ones."""
        return self.predictor.suggest(_fact(fact), k, known)

    def explain(self, fact: str | Fact, position: str | Position) -> Explanation:
        """Why the model predicts the element at a position such as ``"object"`` or ``"value 1"``."""
        chosen = Position.parse(position) if isinstance(position, str) else position
        return self.predictor.explain(_fact(fact), chosen)

    def entity(self, name: str, limit: int = 5) -> EntityProfile:
        """The stored facts about an entity, grouped by its slot, with the first ``limit`` facts of each group."""
        return self.predictor.entity(name, limit)

    def relation(self, name: str, limit: int = 10) -> RelationProfile:
        """How a relation is used, with the ``limit`` most frequent subjects, objects, attributes and values."""
        return self.predictor.relations.profile(name, limit, self.reports)

    def missing(self, entity: str, k: int = 5) -> MissingFacts:
        """The ``k`` slots that an entity most probably lacks, judging by similar entities, with the best answers."""
        return self.predictor.missing(entity, k)

    def doubtful(self, entity: str, limit: int = 50, offset: int = 0) -> DoubtfulFacts:
        """Score ``limit`` stored facts about an entity, after the first ``offset``; the least plausible come first."""
        return self.predictor.doubtful(entity, limit, offset)

    def rules(
        self, relation: str | None = None, kind: str | None = None, role: str | None = None, limit: int = 20
    ) -> RuleList:
        """The most confident rules, optionally of one relation or kind or for one role."""
        return self.predictor.rules(relation, kind, role, limit)

    def find_facts(self, pattern: str | Fact | Query, limit: int = 20) -> StoredFacts:
        """The stored facts that contain a pattern such as ``"Marie Curie | award received | ?"``."""
        return self.predictor.find_facts(parse(pattern) if isinstance(pattern, str) else pattern, limit)

    def similar(self, name: str, kind: Kind | None = None, k: int = 10) -> Neighbors:
        """The ``k`` entities, or relations, most similar to ``name``."""
        return self.predictor.similar(name, kind, k)

    @cached_property
    def predictor(self) -> Predictor:
        """The object that answers queries with this model. Its probabilities are calibrated on held-out facts."""
        held_out = None if "valid" in self.recipe.data.train_on else self.dataset.splits.get("valid")
        recipes = self.recipe.parts or [self.recipe]
        partial = any(recipe.training.qualifier_dropout > 0 for recipe in recipes)
        return Predictor(self.module, self.dataset, held_out, partial, self.unseen)

    def with_facts(self, facts: "Dataset | Sequence[str | Fact]") -> "TrainedModel":
        """A model that also knows ``facts`` and their new names; this model does not change.

        Stored facts, filters and counted rules include them immediately. The vectors of new names are learned from the
        facts within seconds; all other weights stay the same.
        """
        from nary.runs.updating import update  # which makes trained models

        return update(self, facts).model

    def with_unseen_names(
        self, statements: "Sequence[str | Fact | Query]", *, only_values: bool = False
    ) -> "TrainedModel":
        """A model that accepts ``statements`` with names that this model does not know.

        An unknown entity is treated as the average of the names in its slot, and the results have a note about it. A
        number or date is embedded by its value if the model embeds values. With ``only_values``, all other names remain
        unknown.
        """
        from nary.runs.unseen import with_unseen_names  # which makes trained models

        parsed = [parse(statement) if isinstance(statement, str) else statement for statement in statements]
        return with_unseen_names(self, parsed, only_values)

    def _predictor_for(self, statements: "Sequence[Fact | Query]") -> Predictor:
        """The predictor, which knows the numbers and dates in ``statements`` if the model embeds values."""
        if not self.module.embeds_values:
            return self.predictor
        return self.with_unseen_names(statements, only_values=True).predictor

    def save(self, folder: str | Path) -> None:
        """Write a model folder, which :func:`nary.load_model` can load."""
        with atomic_path(Path(folder)) as temporary:
            model_folder.save_description(temporary, self.dataset, self.recipe, self.updates)
            with updating(temporary) as update:
                self._write_trained(update, self.reports)
            write_manifest(temporary)

    def save_trained(self, folder: Path) -> None:
        """Write the part of a model folder that training produces: weights, metrics and the model card."""
        with folder_lock(folder, _WAIT), updating(folder) as update:
            model_folder.save_config(update.path(model_folder.CONFIG_FILE), self.dataset, self.recipe, self.updates)
            self._write_trained(update, self.reports)
        self.weights_digest = model_folder.weights_digest(folder)

    def _write_trained(self, update: FolderUpdate, reports: Sequence[Report]) -> None:
        model_folder.save_weights(update.path(model_folder.WEIGHTS_FILE), self.module)
        model_folder.save_tables(update, self.module, self.vocabulary)
        model_folder.save_reports(update.path(model_folder.METRICS_FILE), reports)
        update.path(model_folder.CARD_FILE).write_bytes(self._card(reports).encode())

    def add_report(self, report: Report, folder: Path | None = None) -> None:
        """Store a report on one of the model's splits. It replaces an older report with the same protocol.

        With ``folder``, the model folder that the model was loaded from, this also updates ``metrics.json`` and the
        model card there. A card that was edited is not changed. Reports that other processes stored in the meantime are
        kept.
        """
        if report.split not in self.dataset.splits:
            raise SettingError(
                f"a report on {report.split} is not part of the model", "Store reports on its own splits only."
            )
        if folder is None:
            self.reports = model_folder.with_report(self.reports, report)
            return
        with folder_lock(folder, _WAIT):
            if self.weights_digest not in (None, model_folder.weights_digest(folder)):
                raise OutputError(f"the model in {folder} has changed since it was loaded", "Evaluate it again.")
            before = model_folder.load_reports(folder)
            self.reports = model_folder.with_report(before, report)
            if self.reports != before:
                with updating(folder) as update:
                    model_folder.save_reports(update.path(model_folder.METRICS_FILE), self.reports)
                    if model_folder.is_card(folder, self._card(before)):
                        update.path(model_folder.CARD_FILE).write_bytes(self._card(self.reports).encode())

    def _card(self, reports: Sequence[Report]) -> str:
        return card(self.dataset, self.module, self.recipe, reports, self.updates)


def resolve_device(name: str | torch.device) -> torch.device:
    """The device of that name; ``"auto"`` is CUDA if available, otherwise the CPU."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device).cpu()
    except (RuntimeError, AssertionError, ImportError) as error:  # depends on the backend
        reason = str(error).splitlines()[0]
        raise SettingError(f"cannot compute on the device {str(name)!r}: {reason}", "Try cpu or cuda.") from None
    return device


def _query(query: str | Query) -> Query:
    return parse_query(query) if isinstance(query, str) else query


def _fact(fact: str | Fact) -> Fact:
    return parse_fact(fact) if isinstance(fact, str) else fact
