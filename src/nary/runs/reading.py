"""Facts and queries in the names of a model, also where they name what it does not know."""

import numpy as np

from nary.facts import Fact, Position, Query, Role
from nary.facts.layout import OBJECT, SUBJECT, first_value
from nary.facts.literal import MARK
from nary.facts.scales import on_scale
from nary.runs.trained_model import TrainedModel


def in_names_of(model: TrainedModel, fact: Fact) -> Fact:
    """The fact in the names of the model; unknown names stay, but values become literals where such stand."""
    elements = model.predictor.names.resolve(fact, True).elements()
    for statement, position, name in unseen_places(model, fact):
        elements[position] = literal_name(model, statement, position, name)
    return Fact.from_elements(elements)


def literal_name(model: TrainedModel, statement: Fact | Query, position: Position, text: str) -> str:
    """The name of a literal if ``text`` is its value, where such literals stand: ``66000^^number`` for 66000."""
    relations, ranges = model.vocabulary.relation_ids, model.predictor.context.ranges
    keys = [relations.get(key, -1) for key in (str(statement.relation), relation_of(statement, position))]
    if not position.role.is_entity or min(keys) < 0:
        return text
    column = {Role.SUBJECT: SUBJECT, Role.OBJECT: OBJECT}.get(position.role, first_value(1))
    range_ = ranges.of(int(ranges.slots(np.array([[keys[0], 0, 0, keys[1], 0]], np.int32), column)[0]))
    name = "" if range_ is None else f"{text}{MARK}{model.vocabulary.scales.names[range_.scale]}"
    return name if on_scale(name) is not None else text


def unseen_places(model: TrainedModel, statement: Fact | Query) -> list[tuple[Fact | Query, Position, str]]:
    """Where names stand that the model does not know."""
    known, resolve = model.vocabulary, model.predictor.names.resolve
    resolved = resolve(statement, True) if isinstance(statement, Fact) else resolve(statement, True)  # noqa: RUF034 (one type each)
    ids = {True: known.entity_ids, False: known.relation_ids}
    return [
        (resolved, position, element)
        for position, element in resolved.elements().items()
        if isinstance(element, str) and element not in ids[position.role.is_entity]
    ]


def relation_of(statement: Fact | Query, position: Position) -> str:
    """The relation, or the attribute of a value, that says what stands there; a gap is none that is known."""
    is_value = position.role is Role.VALUE
    element = statement.qualifiers[position.number - 1][0] if is_value else statement.relation
    return element if isinstance(element, str) else ""
