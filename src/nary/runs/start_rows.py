"""Where the rows of new entities start: at the mean of the entities that stand in the same slots."""

import numpy as np
import numpy.typing as npt
import torch

from nary.facts import FactTable
from nary.inference.slots import Slots
from nary.models.base import Model
from nary.models.growth import kind_rows

Standing = npt.NDArray[np.int64]
"""Entities and the slots they stand in [n, 2]."""


def new_entities_standing(table: FactTable, slots: Slots, first: int) -> Standing:
    """Where the entities from the id ``first`` on stand in the facts of ``table``."""
    parts = [np.empty((0, 2), np.int64)]
    for block in table.blocks:
        of_entities = slots.of(block.ids)[:, block.entity_columns]
        parts.append(np.stack([block.entities.ravel(), of_entities.ravel()], 1))
    standing = np.concatenate(parts)
    return standing[standing[:, 0] >= first]


@torch.no_grad()
def start_in_slots(model: Model, standing: Standing, slots: Slots) -> None:
    """Set the rows of entities to the mean, over the slots they stand in, of the mean row in the slot.

    Slots in which no entity stood before are left out; rows of entities without other slots stay as they are.
    """
    members = {slot: slots.members(slot) for slot in np.unique(standing[:, 1]).tolist()}
    places = {entity: standing[standing[:, 0] == entity, 1].tolist() for entity in np.unique(standing[:, 0]).tolist()}
    for name, rows in kind_rows(model, "entity"):
        table = model.get_parameter(name)[rows]
        flat = table.flatten(1) if table.dim() > 1 else table[:, None]
        means = {}
        for slot, (ids, counts) in members.items():
            if len(ids):
                weights = torch.from_numpy(counts / counts.sum()).to(flat)
                means[slot] = weights @ flat[torch.from_numpy(ids).to(flat.device)]
        for entity, in_slots in places.items():
            known = [means[slot] for slot in in_slots if slot in means]
            if known:
                flat[entity] = torch.stack(known).mean(0)
