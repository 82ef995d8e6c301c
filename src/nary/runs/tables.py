"""The tables of results, and the rows that can be made for them: a recipe each."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from nary.config import read_toml
from nary.data import catalog
from nary.errors import SettingError, did_you_mean
from nary.facts import Role
from nary.models.registry import MODELS
from nary.recipe import EXAMPLE, Recipe, choose, recipe_from, shipped
from nary.runs.results import result_name, variant_of

MIXED = ("jf17k", "wikipeople", "wikipeople-")
SINGLE = ("jf17k-3", "jf17k-4", "wikipeople-3", "wikipeople-4")
_TAKEN_APART = (*MIXED, *SINGLE, "fb-auto", "wd50k", "wd50k_100")
_VARIANTS = ("homo", "complete")
"""Of GRAN, beside the one of its recipes."""
_WITHOUT_QUALIFIERS = ("gran", "stare", "hy-transformer")
"""Their recipes have rows on triples alone, too."""
_TRIPLES_EPOCHS = 3
"""Times as many epochs on triples: many facts become one, with fewer elements to ask for: an epoch has fewer steps."""
_ABLATIONS = (*(f"gran-{variant}" for variant in _VARIANTS), "stare-transformer")


@dataclass(frozen=True)
class Table:
    """A table: what is asked for on which datasets."""

    name: str
    title: str
    datasets: tuple[str, ...]
    """Empty for all that no other table has."""
    groups: tuple[str, ...]
    ablations: bool = False
    """Shows parts of a system taken away, not systems."""

    def has(self, dataset: str) -> bool:
        """Whether results on ``dataset`` belong here."""
        return dataset in self.datasets if self.datasets else dataset not in (*MIXED, *SINGLE)


TABLES = (
    Table("mixed-arity", "Entities, mixed arities", MIXED, ("entity", "subject/object")),
    Table("relations", "Relations", MIXED, ("relation", "primary")),
    Table("single-arity", "Entities, one arity", SINGLE, ("entity",)),
    Table(
        "breakdown",
        "By arity and position",
        MIXED,
        (
            *("subject/object[arity=2]", "subject/object[arity>2]", "value"),
            *("primary[arity=2]", "primary[arity>2]", "attribute"),
        ),
    ),
    Table("others", "Entities, other datasets", (), ("entity", "subject/object")),
    Table("ablations", "Ablations", _TAKEN_APART, ("entity", "subject/object"), ablations=True),
)
"""In the order of the page."""


@dataclass(frozen=True)
class Row:
    """A row: a recipe under the name by which it can be asked for, such as ``gran/jf17k-4-fast``."""

    name: str
    recipe: Recipe

    @property
    def dataset(self) -> str:
        """What it learns from."""
        return self.recipe.data.name

    @cached_property
    def label(self) -> str:
        """What tells the recipe from the published one: ``fast``; nothing for that one."""
        label = self.name.partition("/")[2].replace(self.dataset, "", 1).strip("-")
        return label.removeprefix(variant_of(self.recipe) or "").strip("-")

    @property
    def file(self) -> str:
        """What its results are called, up to the seed: ``gran-hete-fast``."""
        return result_name(self.recipe, self.label)


def is_ablation(file: str) -> bool:
    """Whether a result called ``file`` is one of a system with a part taken away."""
    return file.startswith(_ABLATIONS) or "triples" in file.split("-")


def all_rows() -> dict[str, Row]:
    """Every row by name: the shipped recipes, and the same with a part taken away."""
    whole = [Row(name, recipe_from(read_toml(path), str(path))) for name, path in shipped().items()]
    less = [part for row in whole if row.dataset in _TAKEN_APART for part in _taken_apart(row)]
    return {row.name: row for row in (*whole, *less)}


def _taken_apart(row: Row) -> Iterator[Row]:
    """GRAN with its other variants; and on triples alone: ``gran-homo/jf17k``, ``stare-triples/jf17k``."""
    model = row.recipe.model_name
    changes: dict[str, dict[str, object]] = {}
    if model == "gran":
        changes = {variant: {"model.variant": variant} for variant in _VARIANTS}
    if model in _WITHOUT_QUALIFIERS:
        epochs = _TRIPLES_EPOCHS * row.recipe.training.epochs
        changes["triples"] = {"data.qualifiers": False, "training.epochs": epochs}
    for part, overrides in changes.items():
        recipe = choose(row.dataset, recipe=row.name, overrides=overrides)
        yield Row(row.name.replace(f"{model}/", f"{model}-{part}/"), recipe)


def find_row(name: str) -> Row:
    """The row called ``name``; a model without any recipes has a row with its defaults on every dataset."""
    rows = all_rows()
    model, _, dataset = name.partition("/")
    if f"{model}/{EXAMPLE}" not in rows and model in MODELS and dataset in catalog.names():
        return Row(name, choose(dataset, model))
    if name not in rows:
        known = [*(table.name for table in TABLES), *rows]
        raise SettingError(f"no table and no recipe is called {name!r}", did_you_mean(name, known))
    return rows[name]


def rows_of(table: Table) -> list[Row]:
    """The rows of ``table`` with published settings."""
    rows = [row for row in all_rows().values() if table.has(row.dataset) and not row.label]
    if table.ablations:
        models = {row.recipe.model_name for row in rows if is_ablation(row.file)}
        return [row for row in rows if row.recipe.model_name in models]
    asked = Role.RELATION if table.name == "relations" else Role.SUBJECT
    whole = [row for row in rows if not is_ablation(row.file)]
    return [row for row in whole if asked in MODELS.get(row.recipe.model_name).roles_of(row.recipe.model)]
