"""Training facts near a masked fact, as further vertices that GRAN attends to.

Shapes: F training facts, S slots of the longest one; n masked facts of one arity with s slots, c candidates for each, k
of them chosen; d width.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from nary.models.base import DatasetInfo
from nary.models.batch import Group, entities_of, relations_of
from nary.models.layers import hash_rows

_WINDOW = 8  # facts of each known entity that are compared with the masked fact
_QUALIFIERS = 3  # of a near fact that are read
_PADDING, _UNKNOWN = -1, -2
_KINDS = 3  # of slots: subject, object, value


class Near(NamedTuple):
    """The facts near each of n masked facts; elements that are not there are negative."""

    relations: Tensor
    """The relation and the first attributes [n, k, 1 + q]."""
    entities: Tensor
    """The subject, the object and the first values [n, k, 2 + q]."""
    new: Tensor
    """Which of these entities are there, and not in the masked fact [n, k, 2 + q]."""
    shared: Tensor
    """How often an entity in one kind of slot is in another of the masked fact [n, k, 9]."""
    missing: Tensor
    """Where there are fewer than k facts [n, k]."""


class NearFacts(nn.Module):
    """Finds the ``count`` training facts that have most in common with a masked fact, and embeds each as a vertex.

    Facts that contain all known elements of the masked fact answer its question, and are left out: the vertices are the
    same whether or not the fact itself is among the training facts. The candidates are a few facts of each known
    entity, in training from a random place on, otherwise from the first one. Twice as many are looked at, in place of
    those left out.
    """

    def __init__(self, count: int, info: DatasetInfo, width: int) -> None:
        super().__init__()
        self.count = count
        self.slot_scale = nn.Parameter(torch.empty(_KINDS, width))
        self.shared_embedding = nn.Parameter(torch.empty(_KINDS**2, width))
        self.missing_embedding = nn.Parameter(torch.empty(1, width))
        with torch.device("cpu"):
            for name, content in _index(info).items():
                self.register_buffer(name, content, persistent=False)

    relations: Tensor
    """The relation and the attributes of each training fact [F, S - 1]."""
    entities: Tensor
    """The entities in its slots [F, S]."""
    mentions: Tensor
    """The facts of the first entity, of the second, ..."""
    starts: Tensor
    """Where those of each entity start [E + 1]."""

    def reset_parameters(self) -> None:
        """Scales that differ between the slots, so that their sum tells which entity is where."""
        nn.init.normal_(self.slot_scale, 1.0, 0.3)

    def find(self, group: Group) -> Near:
        """The facts near each masked fact of a group."""
        unknown = group.unknown
        entities = entities_of(group.ids).masked_fill(entities_of(unknown), _UNKNOWN)  # [n, s]
        relations = relations_of(group.ids).masked_fill(relations_of(unknown), _UNKNOWN)
        facts, usable = self._windows(entities)  # [n, s, 2 * window]
        usable &= ~self._contain(facts, relations[:, None, None], entities[:, None, None])
        turn = usable.cumsum(-1)
        usable &= turn <= _WINDOW
        common = (self.entities[facts][..., None] == entities[:, None, None, None]).any(-1).sum(-1)
        common += self.relations[facts][..., 0] == relations[:, :1, None]
        rank = (common * (_WINDOW + 1) - turn) * len(self.entities) - facts  # positive: at least one is common
        rank = torch.where(usable, rank, 0)
        facts, missing = _best(facts.flatten(1), rank.flatten(1), self.count)
        return self._near(facts, missing, entities)

    def _windows(self, entities: Tensor) -> tuple[Tensor, Tensor]:
        """Facts of each entity [n, s, 2 * window], and which of these there are."""
        known = entities.clamp(min=0)
        start = self.starts[known]
        degree = torch.where(entities >= 0, self.starts[known + 1] - start, 0)
        first = (torch.rand(degree.shape, device=degree.device) * degree).long() if self.training else 0 * degree
        steps = torch.arange(2 * _WINDOW, device=degree.device)
        places = start[..., None] + (first[..., None] + steps) % degree.clamp(min=1)[..., None]
        return self.mentions[places.clamp(max=len(self.mentions) - 1)], steps < degree[..., None]

    def _contain(self, facts: Tensor, relations: Tensor, entities: Tensor) -> Tensor:
        """Which facts have all known elements of the masked fact."""

        def fits(known: Tensor, ids: Tensor) -> Tensor:
            return (known == ids) | (known == _UNKNOWN)

        others, slots = self.relations[facts], self.entities[facts]
        contain = fits(relations[..., 0], others[..., 0])
        contain &= fits(entities[..., 0], slots[..., 0]) & fits(entities[..., 1], slots[..., 1])
        for number in range(1, relations.shape[-1]):
            attribute, value = relations[..., number : number + 1], entities[..., number + 1 : number + 2]
            pairs = fits(attribute, others[..., 1:]) & fits(value, slots[..., 2:]) & (others[..., 1:] != _PADDING)
            contain &= pairs.any(-1)
        return contain

    def _near(self, facts: Tensor, missing: Tensor, entities: Tensor) -> Near:
        read = self.entities[facts][..., : 2 + _QUALIFIERS]
        equal = read[..., None] == entities[:, None, None]  # [n, k, 2 + q, s]
        kinds = [slice(0, 1), slice(1, 2), slice(2, None)]
        shared = [equal[..., near, masked].flatten(2).sum(-1) for near in kinds for masked in kinds]
        new = (read != _PADDING) & ~equal.any(-1)
        relations = self.relations[facts][..., : 1 + _QUALIFIERS]
        return Near(relations, read, new, torch.stack(shared, -1), missing)

    def forward(self, near: Near, relations: Tensor, entities: Tensor) -> Tensor:
        """A vertex for each near fact [n, k, d], from the embeddings of its relations and entities."""
        scaled = (entities[..., :2, :] * self.slot_scale[:2] * near.new[..., :2, None]).sum(-2)
        scaled = scaled + (entities[..., 2:, :] * near.new[..., 2:, None]).sum(-2) * self.slot_scale[2]
        there = (near.relations >= 0)[..., None]
        vertices = scaled + (relations * there).sum(-2) + near.shared.to(scaled.dtype) @ self.shared_embedding
        return torch.where(near.missing[..., None], self.missing_embedding, vertices)


def _best(facts: Tensor, rank: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Of candidates [n, c] the ``count`` of largest positive rank, each fact once; and where there are fewer [n, k]."""
    places = torch.arange(rank.shape[1], device=rank.device)  # make keys distinct: ONNX has no stable sort
    order = rank.argsort(dim=1, descending=True)
    facts, usable = facts.gather(1, order), rank.gather(1, order) > 0
    by_fact = (facts * len(places) + places).argsort(dim=1)
    ordered = facts.gather(1, by_fact)
    again = torch.zeros_like(usable).scatter(1, by_fact[:, 1:], ordered[:, 1:] == ordered[:, :-1])
    usable &= ~again
    chosen = torch.where(usable, places, places + len(places)).argsort(dim=1)[:, :count]
    missing = ~usable.gather(1, chosen)
    lacking = count - chosen.shape[1]  # of facts with few known entities
    return (
        nn.functional.pad(facts.gather(1, chosen), (0, lacking)),
        nn.functional.pad(missing, (0, lacking), value=True),
    )


def _index(info: DatasetInfo) -> dict[str, Tensor]:
    """The buffers of :class:`NearFacts`; facts are in the order of a hash, which other facts do not change."""
    qualifiers = max((block.qualifiers for block in info.facts.blocks), default=0)
    blocks = [torch.from_numpy(block.ids.astype(np.int64)) for block in info.facts.blocks]
    relations, entities = (
        torch.cat([_padded(part(ids), size + qualifiers) for ids in blocks])
        for part, size in ((relations_of, 1), (entities_of, 2))
    )
    order = torch.cat([hash_rows(ids) for ids in blocks]).argsort(stable=True)
    relations, entities = relations[order], entities[order]
    count = len(entities)
    numbers = torch.arange(count)[:, None].expand_as(entities)
    keys = torch.unique((entities * count + numbers)[entities >= 0])  # ordered by entity, then by fact
    starts = torch.searchsorted(keys, torch.arange(info.num_entities + 1) * count)
    return {"relations": relations, "entities": entities, "mentions": keys % count, "starts": starts}


def _padded(ids: Tensor, width: int) -> Tensor:
    return nn.functional.pad(ids, (0, width - ids.shape[1]), value=_PADDING)
