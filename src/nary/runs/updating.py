"""Models that grow: add facts to a trained model, with names that it does not know, without training it anew."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from nary.data.dataset import Dataset
from nary.data.transforms.growth import add_facts
from nary.data.transforms.reindex import drop_unused_names
from nary.data.transforms.simplify import drop_qualifiers
from nary.facts import Fact, FactTable, Vocabulary, parse_fact
from nary.inference.provenance import Update
from nary.inference.slots import Slots
from nary.models.base import Model
from nary.models.blend.model import Blend
from nary.models.growth import NewRows, grow
from nary.models.new_names import NewNames
from nary.recipe import Recipe
from nary.runs.reading import in_names_of
from nary.runs.start_rows import Standing, standing_of, start_in_slots
from nary.runs.trained_model import TrainedModel
from nary.training.losses import CrossEntropySettings, SmoothedSettings, make_loss
from nary.training.new_rows import learn_new_rows
from nary.training.runtime import precision
from nary.training.settings import LOSSES, LossSettings
from nary.wording import counted

_SHOWN = 5


@dataclass(frozen=True)
class UpdateResult:
    """An updated model, and what was done."""

    model: TrainedModel
    update: Update
    stored: int
    """How many of the given facts were stored already, or given twice."""
    steps: int
    """How many steps the new rows were learned in."""
    seconds: float
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        counts = self.update.model_dump(exclude={"fingerprint"})
        return {**counts, "stored": self.stored, "steps": self.steps, "seconds": self.seconds, "notes": self.notes}


def update(model: TrainedModel, facts: Dataset | Sequence[str | Fact]) -> UpdateResult:
    """``model`` with ``facts`` among its training facts; ``model`` itself stays as it is.

    New entities and relations get rows that are learned from the facts, as do those of the vocabulary that no training
    fact had; all other weights stay as they are. What a model counts is counted anew. The names of a dataset are
    matched exactly; those of other facts also by label, or ignoring case, and numbers and dates by their value.
    """
    start = time.perf_counter()
    old, given = model.dataset, facts if isinstance(facts, Dataset) else _dataset_of(facts, model)
    grown = add_facts(old, _triples(given) if model.triples_only else given)
    grower = Grower(model, grown.dataset, grown.added)
    standing = standing_of(grower.names.entities, grown.added, grower.slots)
    module = grower.grow(model.module, model.recipe, standing)
    before, after = old.vocabulary, grown.dataset.vocabulary
    entities, relations = len(after.entities) - len(before.entities), len(after.relations) - len(before.relations)
    done = Update(fingerprint=old.fingerprint, facts=len(grown.added), entities=entities, relations=relations)
    updates = [*model.updates, done] if done.facts else model.updates
    updated = TrainedModel(module, grown.dataset, model.recipe, updates=updates)
    notes = [*_untrained(grower.names, before), *grower.notes]
    return UpdateResult(updated, done, grown.stored, grower.steps, time.perf_counter() - start, notes)


class Grower:
    """Grows the modules of a model to the vocabulary and the facts of a grown dataset; ``added`` are its new facts."""

    def __init__(self, model: TrainedModel, grown: Dataset, added: FactTable) -> None:
        self.old_info, self.info = model.recipe.dataset_info(model.dataset), model.recipe.dataset_info(grown)
        self.added = added
        self.names = NewNames.of(self.old_info, self.info, added)
        self.slots = Slots(model.dataset.train, self.info.num_entities, self.info.num_relations)
        self.steps = 0
        self.notes: list[str] = []

    def grow(self, module: Model, recipe: Recipe, standing: Standing) -> Model:
        """The module for the grown dataset; that of a blend with all its parts grown.

        New entities start as the mean of the slots in which they are ``standing``, and learn from new facts.
        """
        if isinstance(module, Blend):
            parts = [self.grow(*part, standing) for part in zip(module.models, recipe.parts, strict=True)]
            return Blend(module.settings, self.info, parts).take_weights(module).to(module.weight.device).eval()
        larger, new_rows = grow(module, recipe.model, self.info, self.names)
        start_in_slots(larger, standing, self.slots)
        if new_rows and len(self.added):
            self._learn(larger, new_rows, recipe)
        return larger.eval()

    def _learn(self, module: Model, new_rows: NewRows, recipe: Recipe) -> None:
        if not module.learns_new_rows:
            self.notes.append(f"{module.name} passes messages along the new facts; their names start as averages")
            return
        roles = frozenset(role for role in module.roles if role.is_entity or len(self.names.relations))
        only_names = new_rows.keys() <= module.vocabulary_tables().keys()
        facts = self.names.facts_with(self.added) if only_names else self.added
        loss = make_loss(_exact(recipe.loss), self.info, next(module.parameters()).device)
        with precision(recipe.training.precision, next(module.parameters()).device):
            self.steps += learn_new_rows(module, self.names, new_rows, facts, self.old_info.facts, loss, roles)


def _dataset_of(facts: Sequence[str | Fact], model: TrainedModel) -> Dataset:
    parsed = [parse_fact(fact) if isinstance(fact, str) else fact for fact in facts]
    return Dataset.from_facts("new", {"train": [in_names_of(model, fact) for fact in parsed]})


def _untrained(names: NewNames, before: Vocabulary) -> list[str]:
    """A note on the new names that the vocabulary had ``before``, if there are any."""
    entities = [before.entities[i] for i in names.entities.tolist() if i < len(before.entities)]
    relations = [before.relations[i] for i in names.relations.tolist() if i < len(before.relations)]
    known = [*entities, *relations]
    if not known:
        return []
    examples = ", ".join(repr(before.label(name)) for name in known[:_SHOWN])
    more = ", ..." if len(known) > _SHOWN else ""
    return [f"{counted(len(known), 'known name')} without training facts until now: {examples}{more}"]


def _exact(settings: LossSettings) -> LossSettings:
    """The loss against all candidates instead of one against a sample of them."""
    if not LOSSES.get(settings.name).by_rows:
        return settings
    shared = settings.model_dump(include=set(SmoothedSettings.model_fields) - {"name"})
    return CrossEntropySettings(**shared)


def _triples(facts: Dataset) -> Dataset:
    """The primary triples, and the names in them."""
    simple = drop_qualifiers(facts)
    return Dataset(facts.name, *drop_unused_names(simple.vocabulary, simple.splits))
