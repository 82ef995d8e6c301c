"""The experiments behind the results page: which tables it has, and which recipes make their rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from nary.data.catalog import is_dataset
from nary.errors import SettingError, did_you_mean
from nary.facts import Role
from nary.models.registry import MODELS
from nary.recipe import EXAMPLE, Recipe, choose_recipe, shipped_recipes

MIXED_ARITY = ("jf17k", "wikipeople", "wikipeople-")
SINGLE_ARITY = ("jf17k-3", "jf17k-4", "wikipeople-3", "wikipeople-4")
_ABLATION_DATASETS = (*MIXED_ARITY, *SINGLE_ARITY, "fb-auto", "wd50k", "wd50k_100")
_GRAN_VARIANTS = ("homo", "complete")
"""The variants of GRAN other than the one its recipes use."""
_TRIPLES_ONLY_MODELS = ("gran", "stare", "hy-transformer")
"""Models whose recipes are also run without qualifiers."""
_TRIPLES_ONLY_EPOCHS = 3
"""Factor on the epochs without qualifiers: facts merge and have fewer elements, so an epoch has fewer steps."""
_ABLATIONS = (*(f"gran-{variant}" for variant in _GRAN_VARIANTS), "stare-transformer")


@dataclass(frozen=True)
class ResultTable:
    """A table of the results page: query groups on a set of datasets."""

    name: str
    title: str
    datasets: tuple[str, ...]
    """Empty for all datasets that no other table has."""
    groups: tuple[str, ...]
    ablations: bool = False
    """Whether the table shows ablations beside the full systems."""

    def includes(self, dataset: str) -> bool:
        """Whether results on ``dataset`` belong in this table."""
        return dataset in self.datasets if self.datasets else dataset not in (*MIXED_ARITY, *SINGLE_ARITY)


RESULT_TABLES = (
    ResultTable("mixed-arity", "Entities, mixed arities", MIXED_ARITY, ("entity", "subject/object")),
    ResultTable("relations", "Relations", MIXED_ARITY, ("relation", "primary")),
    ResultTable("single-arity", "Entities, one arity", SINGLE_ARITY, ("entity",)),
    ResultTable(
        "breakdown",
        "By arity and position",
        MIXED_ARITY,
        (
            *("subject/object[arity=2]", "subject/object[arity>2]", "value"),
            *("primary[arity=2]", "primary[arity>2]", "attribute"),
        ),
    ),
    ResultTable("others", "Entities, other datasets", (), ("entity", "subject/object")),
    ResultTable("ablations", "Ablations", _ABLATION_DATASETS, ("entity", "subject/object"), ablations=True),
)
"""In the order of the page."""


@dataclass(frozen=True)
class Experiment:
    """A recipe under the name that ``nary reproduce`` knows it by, such as ``gran/jf17k-4-fast``."""

    name: str
    recipe: Recipe

    @property
    def dataset(self) -> str:
        """The name of the dataset."""
        return self.recipe.data.name

    @cached_property
    def label(self) -> str:
        """What tells the recipe from the one with published settings: ``fast``; empty for that one."""
        label = self.name.partition("/")[2].replace(self.dataset, "", 1).strip("-")
        return label.removeprefix(variant_of(self.recipe) or "").strip("-")

    @property
    def stem(self) -> str:
        """The file name of its result records up to the seed: ``gran-hete-fast``."""
        return record_stem(self.recipe, self.label)

    @property
    def seed(self) -> int:
        """The random seed."""
        return self.recipe.training.seed

    def with_seed(self, seed: int) -> "Experiment":
        """The same experiment with another random seed."""
        training = self.recipe.training.model_copy(update={"seed": seed})
        return replace(self, recipe=self.recipe.model_copy(update={"training": training}))


def variant_of(recipe: Recipe) -> str | None:
    """The variant of the model, if it has any."""
    return getattr(recipe.model, "variant", None)


def record_stem(recipe: Recipe, label: str = "") -> str:
    """The file name of result records of ``recipe``, up to the seed."""
    qualifiers = "" if recipe.data.qualifiers else "triples"
    return "-".join(part for part in (recipe.model_name, variant_of(recipe), qualifiers, label) if part)


def is_ablation(stem: str) -> bool:
    """Whether result records with this file name belong to an ablation."""
    return stem.startswith(_ABLATIONS) or "triples" in stem.split("-")


def all_experiments() -> dict[str, Experiment]:
    """Every experiment by name: the shipped recipes and their ablations."""
    full = [Experiment(name, Recipe.from_file(path)) for name, path in shipped_recipes().items()]
    ablated = [ablation for one in full if one.dataset in _ABLATION_DATASETS for ablation in _ablations(one)]
    return {experiment.name: experiment for experiment in (*full, *ablated)}


def _ablations(experiment: Experiment) -> Iterator[Experiment]:
    """Other variants of GRAN, and training without qualifiers: ``gran-homo/jf17k``, ``stare-triples/jf17k``."""
    model = experiment.recipe.model_name
    changes: dict[str, dict[str, object]] = {}
    if model == "gran":
        changes = {variant: {"model.variant": variant} for variant in _GRAN_VARIANTS}
    if model in _TRIPLES_ONLY_MODELS:
        epochs = _TRIPLES_ONLY_EPOCHS * experiment.recipe.training.epochs
        changes["triples"] = {"data.qualifiers": False, "training.epochs": epochs}
    for suffix, overrides in changes.items():
        recipe = choose_recipe(experiment.dataset, recipe=experiment.name, overrides=overrides)
        yield Experiment(experiment.name.replace(f"{model}/", f"{model}-{suffix}/"), recipe)


def find_experiment(name: str) -> Experiment:
    """The experiment called ``name``, or that of a recipe file.

    A model without recipes has one with its defaults for every dataset.
    """
    if name.endswith(".toml"):
        recipe = Recipe.from_file(Path(name))
        return Experiment(f"{recipe.model_name}/{Path(name).stem}", recipe)
    experiments = all_experiments()
    model, _, dataset = name.partition("/")
    if f"{model}/{EXAMPLE}" not in experiments and model in MODELS and is_dataset(dataset):
        return Experiment(name, choose_recipe(dataset, model))
    if name not in experiments:
        known = [*(table.name for table in RESULT_TABLES), *experiments]
        raise SettingError(f"no table or recipe is called {name!r}", did_you_mean(name, known))
    return experiments[name]


def experiments_in(table: ResultTable) -> list[Experiment]:
    """The experiments of ``table`` with published settings."""
    experiments = [one for one in all_experiments().values() if table.includes(one.dataset) and not one.label]
    if table.ablations:
        models = {one.recipe.model_name for one in experiments if is_ablation(one.stem)}
        return [one for one in experiments if one.recipe.model_name in models]
    role = Role.RELATION if table.name == "relations" else Role.SUBJECT
    full = [one for one in experiments if not is_ablation(one.stem)]
    return [one for one in full if role in MODELS.get(one.recipe.model_name).roles_of(one.recipe.model)]


def find_experiments(names: Sequence[str]) -> list[Experiment]:
    """The experiments that names of tables and experiments stand for, each once."""
    tables = {table.name: table for table in RESULT_TABLES}
    chosen = [one for name in names for one in _experiments_named(name, tables.get(name))]
    return list({experiment.name: experiment for experiment in chosen}.values())


def _experiments_named(name: str, table: ResultTable | None) -> list[Experiment]:
    return experiments_in(table) if table else [find_experiment(name)]
