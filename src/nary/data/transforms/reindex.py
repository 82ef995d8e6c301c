"""Changing the vocabulary of facts: to that of another dataset, or to the names in use."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from nary.errors import DataError
from nary.facts import FactTable, Vocabulary
from nary.facts.names import pack
from nary.wording import counted

_EXAMPLES = 5


def reindex(table: FactTable, source: Vocabulary, target: Vocabulary) -> tuple[FactTable, list[str]]:
    """Replace the ids of ``source`` by those of ``target``.

    Facts with a name that ``target`` lacks are dropped; the returned notes count and list them.
    """
    entities = translate(source.entities, target.entity_ids)
    relations = translate(source.relations, target.relation_ids)
    known = np.zeros(len(table), bool)
    unknown: set[str] = set()
    for block in table.blocks:
        new_entities, new_relations = entities[block.entities] < 0, relations[block.relations] < 0
        known[block.rows] = ~(new_entities.any(axis=1) | new_relations.any(axis=1))
        unknown |= {source.entities[i] for i in block.entities[new_entities].tolist()}
        unknown |= {source.relations[i] for i in block.relations[new_relations].tolist()}
    if not unknown:
        return table.renumbered(entities, relations), []
    if not known.any():
        raise DataError(
            f"every fact has an unknown name, such as {min(unknown)!r}",
            "Are these facts of the same kind as those it was trained on?",
        )
    examples = ", ".join(repr(name) for name in sorted(unknown)[:_EXAMPLES])
    left_out = counted(int(np.sum(~known)), "fact is", "facts are")
    note = f"{left_out} left out: {len(unknown):,} of their names are unknown ({examples}"
    kept = table.take(np.flatnonzero(known)).renumbered(entities, relations)
    return kept, [note + (", ...)" if len(unknown) > _EXAMPLES else ")")]


def translate(names: Sequence[str], ids: Mapping[str, int]) -> npt.NDArray[np.int64]:
    """Return the id of each name, -1 for those that have none."""
    return np.fromiter((ids.get(name, -1) for name in names), np.int64)


def drop_unused_names(
    vocabulary: Vocabulary, splits: Mapping[str, FactTable]
) -> tuple[Vocabulary, dict[str, FactTable]]:
    """Reduce ``vocabulary`` to the names that occur in ``splits``; the order of names stays the same."""
    entities, relations = np.zeros(len(vocabulary.entities), bool), np.zeros(len(vocabulary.relations), bool)
    for table in splits.values():
        for block in table.blocks:
            entities[block.entities] = True
            relations[block.relations] = True
    reduced = Vocabulary(
        pack([vocabulary.entities[i] for i in np.flatnonzero(entities).tolist()]),
        pack([vocabulary.relations[i] for i in np.flatnonzero(relations).tolist()]),
        vocabulary.labels,
        vocabulary.types,
    )
    entity_ids, relation_ids = np.cumsum(entities) - 1, np.cumsum(relations) - 1
    return reduced, {split: table.renumbered(entity_ids, relation_ids) for split, table in splits.items()}
