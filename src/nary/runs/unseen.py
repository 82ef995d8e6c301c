"""Names that a model has never seen: numbers and dates by their value, others as averages of what it knows."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nary.facts import Fact, FactTable, Position, Query, Role, Vocabulary
from nary.facts.layout import OBJECT, SUBJECT, first_value
from nary.facts.literal import MARK
from nary.facts.scales import on_scale
from nary.inference.names import Names
from nary.inference.slots import Slots
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
        (statement, position, _literal_name(model, statement, position, name))
        for statement in statements
        for statement, position, name in _unseen_places(model.predictor.names, known, statement)
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
            key = _relation_of(statement, position)
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


def _literal_name(model: TrainedModel, statement: Fact | Query, position: Position, text: str) -> str:
    """The name of a literal if ``text`` is its value, where such literals stand: ``66000^^number`` for 66000."""
    relations, ranges = model.vocabulary.relation_ids, model.predictor.context.ranges
    keys = [relations.get(key, -1) for key in (str(statement.relation), _relation_of(statement, position))]
    if not position.role.is_entity or min(keys) < 0:
        return text
    column = {Role.SUBJECT: SUBJECT, Role.OBJECT: OBJECT}.get(position.role, first_value(1))
    range_ = ranges.of(int(ranges.slots(np.array([[keys[0], 0, 0, keys[1], 0]], np.int32), column)[0]))
    name = "" if range_ is None else f"{text}{MARK}{model.vocabulary.scales.names[range_.scale]}"
    return name if on_scale(name) is not None else text


def _unseen_places(
    names: Names, known: Vocabulary, statement: Fact | Query
) -> list[tuple[Fact | Query, Position, str]]:
    """Where names stand that are not known."""
    resolve = names.resolve
    resolved = resolve(statement, True) if isinstance(statement, Fact) else resolve(statement, True)  # noqa: RUF034 (one type each)
    ids = {True: known.entity_ids, False: known.relation_ids}
    return [
        (resolved, position, element)
        for position, element in resolved.elements().items()
        if isinstance(element, str) and element not in ids[position.role.is_entity]
    ]


def _relation_of(statement: Fact | Query, position: Position) -> str:
    """The relation, or the attribute of a value, that says what stands there; a gap is none that is known."""
    is_value = position.role is Role.VALUE
    element = statement.qualifiers[position.number - 1][0] if is_value else statement.relation
    return element if isinstance(element, str) else ""


def _slot(slots: Slots, role: Role, relation: int) -> int | None:
    """The number of the slot of an entity; None if the relation is not known."""
    if relation < 0:
        return None
    if role is Role.VALUE:
        return int(slots.of_values(np.array(relation)))
    return int(slots.of(np.array([[relation, 0, 0]], np.int32))[0, SUBJECT if role is Role.SUBJECT else OBJECT])
