"""Where the rows of new entities start: at the mean of the entities that stand in the same slots."""

import numpy as np
import numpy.typing as npt
import torch

from nary.facts import FactTable
from nary.inference.slots import Slots
from nary.models.base import Model
from nary.models.growth import kind_rows
from nary.models.new_names import Ids

Standing = npt.NDArray[np.int64]
"""Entities and the slots they stand in [n, 2]."""


def standing_of(entities: Ids, table: FactTable, slots: Slots) -> Standing:
    """Where ``entities`` stand in the facts of ``table``."""
    parts = [np.empty((0, 2), np.int64)]
    for block in table.blocks:
        of_entities = slots.of(block.ids)[:, block.entity_columns]
        parts.append(np.stack([block.entities.ravel(), of_entities.ravel()], 1))
    standing = np.concatenate(parts)
    return standing[np.isin(standing[:, 0], entities)]


@torch.no_grad()
def start_in_slots(model: Model, standing: Standing, slots: Slots) -> None:
    """Set the rows of entities to the mean, over the slots they stand in, of the mean row in the slot.

    Slots in which no entity stood before are left out; rows of entities without other slots stay as they are.
    """
    in_slots, places = np.unique(standing[:, 1], return_inverse=True)
    members = [slots.members(slot) for slot in in_slots.tolist()]
    known = np.array([len(ids) > 0 for ids, _ in members], bool)[places]
    entities, rows = np.unique(standing[known, 0], return_inverse=True)
    shares = 1 / np.bincount(rows)[rows]
    for name, of_entities in kind_rows(model, "entity"):
        table = model.get_parameter(name)[of_entities]
        flat = table.flatten(1) if table.dim() > 1 else table[:, None]
        means = flat.new_zeros(len(members), flat.shape[1])
        for mean, (ids, counts) in zip(means, members, strict=True):
            if len(ids):
                weights = torch.from_numpy(counts / counts.sum()).to(flat)
                mean.copy_(weights @ flat[torch.from_numpy(ids).to(flat.device)])
        parts = means[torch.from_numpy(places[known])] * torch.from_numpy(shares).to(flat)[:, None]
        starts = flat.new_zeros(len(entities), flat.shape[1])
        flat[torch.from_numpy(entities)] = starts.index_add(0, torch.from_numpy(rows).to(flat.device), parts)
