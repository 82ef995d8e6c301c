"""A trained model with the facts it knows: evaluate it, ask it, save it, load it again."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nary.config import Settings, read_toml, validated, with_overrides
from nary.data.dataset import Dataset
from nary.errors import SettingError
from nary.evaluation.evaluate import evaluate
from nary.evaluation.protocol import Protocol
from nary.evaluation.ranks import Ranks
from nary.evaluation.report import Report
from nary.facts import FactTable, Query, parse_query
from nary.inference import folder as model_folder
from nary.inference.predictor import Prediction, Predictor
from nary.models.contract import Model
from nary.models.registry import find
from nary.progress import Progress, no_progress
from nary.recipe import Recipe, recipe_from

MODEL = "model"
"""The model folder inside a run folder."""
RECIPE = "recipe.toml"


@dataclass
class Run:
    """A model, its settings and the facts it knows; recipe and folder too if it comes from a run folder."""

    dataset: Dataset
    model: Model
    settings: Settings
    recipe: Recipe | None = None
    folder: Path | None = None

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
        split, table = (facts, None) if isinstance(facts, str) else (self._split_of(facts), facts)
        return evaluate(self.model, self.dataset, split, protocol or self.protocol(), progress=progress, table=table)

    def _split_of(self, table: FactTable) -> str:
        """What to call these facts in a report."""
        return next((split for split, own in self.dataset.splits.items() if own == table), "other facts")

    def protocol(self, overrides: Mapping[str, Any] | None = None) -> Protocol:
        """The protocol of the recipe, with other values for keys such as ``evaluation.filter``."""
        own = self.recipe.evaluation if self.recipe else Protocol()
        tables = with_overrides({"evaluation": own.model_dump()}, overrides or {})
        if strange := set(tables) - {"evaluation"}:
            raise SettingError(f"{min(strange)} cannot be changed after the training", "Set keys of evaluation only.")
        return validated(Protocol, tables["evaluation"], "evaluation")

    def predict(self, query: str | Query, k: int = 10) -> Prediction:
        """The ``k`` best answers to a query such as ``"Marie Curie | award received | ? | point in time: 1911"``."""
        return self.predictor.predict(parse_query(query) if isinstance(query, str) else query, k)

    @cached_property
    def predictor(self) -> Predictor:
        """What answers queries with this model."""
        return Predictor(self.model, self.dataset.vocabulary, list(self.dataset.splits.values()))

    def save(self, folder: str | Path) -> None:
        """Write the model folder, from which :func:`load_run` makes this run again."""
        model_folder.save_description(Path(folder), self.dataset, self.settings)
        model_folder.save_weights(Path(folder), self.model)


def load_run(folder: str | Path) -> Run:
    """A trained model from a run folder or a model folder."""
    folder = Path(folder)
    recipe_path = folder / RECIPE
    is_run = recipe_path.is_file()
    inner = folder / MODEL if is_run else folder
    described = model_folder.read_description(inner)
    dataset = model_folder.load_dataset(inner)
    model = find(described.model).make(described.settings, model_folder.sizes_of(dataset))
    model_folder.load_weights(inner, model)
    recipe = recipe_from(read_toml(recipe_path), str(recipe_path)) if is_run else None
    return Run(dataset, model.eval(), described.settings, recipe, folder if is_run else None)
