"""Names that a model has never seen: numbers and dates by their value, others as averages of what it knows."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nary.facts import Fact, FactTable, Query, Role, Vocabulary
from nary.facts.layout import OBJECT, SUBJECT
from nary.facts.scales import on_scale
from nary.inference.slots import Slots
from nary.runs.reading import literal_name, relation_of, unseen_places
from nary.runs.trained_model import TrainedModel
from nary.runs.updating import Grower


def with_unseen_names(
    model: TrainedModel, statements: Sequence[Fact | Query], only_values: bool = False
) -> TrainedModel:
    """``model`` with the names in ``statements`` that it does not know, each treated as an average.

    An entity is the average of what stands in the same slots, such as the subjects of a relation. A number or date has
    its value if the model embeds values; with ``only_values``, all other names stay unknown.
    """
    known = model.vocabulary
    places = [
        (statement, position, literal_name(model, statement, position, name))
        for statement in statements
        for statement, position, name in unseen_places(model, statement)
    ]
    if only_values:
        places = [place for place in places if _is_embedded(model, place[2])]
    if not places:
        return model
    entities = [name for _, position, name in places if position.role.is_entity]
    relations = [name for _, position, name in places if not position.role.is_entity]
    dataset = replace(model.dataset, vocabulary=known.with_names(Vocabulary.of(entities, relations)))
    grower = Grower(model, dataset, FactTable([]))
    standing, descriptions = [], dict.fromkeys(relations, "treated as the average relation")
    for statement, position, name in places:
        if position.role.is_entity:
            key = relation_of(statement, position)
            slot = _slot(grower.slots, position.role, known.relation_ids.get(key, -1))
            if slot is None or not grower.slots.totals[slot]:
                descriptions.setdefault(name, "treated as the average entity")
            else:
                standing.append((dataset.vocabulary.entity(name), slot))
                descriptions[name] = f"treated as the average {position.role.value} of {known.label(key)}"
            if _is_embedded(model, name):
                descriptions[name] = "known by its value only: no fact has it"
    table = np.array(standing, np.int64).reshape(-1, 2)
    module = grower.grow(model.module, model.recipe, table)
    unseen = {**model.unseen, **descriptions}
    return replace(model, module=module, dataset=dataset, weights_digest=None, unseen=unseen)


def _is_embedded(model: TrainedModel, name: str) -> bool:
    """Whether the model embeds this literal by its value: it has learned from others on the same scale."""
    place = on_scale(name)
    return model.module.embeds_values and place is not None and place[0] in model.vocabulary.scales.names


def _slot(slots: Slots, role: Role, relation: int) -> int | None:
    """The number of the slot of an entity; None if the relation is not known."""
    if relation < 0:
        return None
    if role is Role.VALUE:
        return int(slots.of_values(np.array(relation)))
    return int(slots.of(np.array([[relation, 0, 0]], np.int32))[0, SUBJECT if role is Role.SUBJECT else OBJECT])
