"""Facts from elsewhere under the ids of a vocabulary that may not have all their names."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from nary.errors import DataError
from nary.facts import FactTable, Vocabulary

_EXAMPLES = 5


def reindex(table: FactTable, names: Vocabulary, vocabulary: Vocabulary) -> tuple[FactTable, list[str]]:
    """``table``, whose ids mean ``names``, under the ids of ``vocabulary``.

    Facts with a name that ``vocabulary`` lacks are left out; the notes count and list them.
    """
    entities = _mapping(names.entities, vocabulary.entity_ids)
    relations = _mapping(names.relations, vocabulary.relation_ids)
    known = np.zeros(len(table), bool)
    unknown: set[str] = set()
    for block in table.blocks:
        new_entities, new_relations = entities[block.entities] < 0, relations[block.relations] < 0
        known[block.rows] = ~(new_entities.any(axis=1) | new_relations.any(axis=1))
        unknown |= {names.entities[i] for i in block.entities[new_entities].tolist()}
        unknown |= {names.relations[i] for i in block.relations[new_relations].tolist()}
    if not unknown:
        return table.renumbered(entities, relations), []
    if not known.any():
        raise DataError(
            f"every fact has a name the model never saw, such as {min(unknown)!r}",
            "Are these facts of the same kind as those it learned from?",
        )
    shown = ", ".join(repr(name) for name in sorted(unknown)[:_EXAMPLES])
    note = f"{np.sum(~known):,} facts are left out: the model never saw {len(unknown):,} of their names ({shown}"
    kept = table.take(np.flatnonzero(known)).renumbered(entities, relations)
    return kept, [note + (", ...)" if len(unknown) > _EXAMPLES else ")")]


def _mapping(names: Sequence[str], ids: Mapping[str, int]) -> npt.NDArray[np.int64]:
    return np.array([ids.get(name, -1) for name in names], np.int64)
