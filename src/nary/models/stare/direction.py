"""One direction of the message graph: from objects to subjects, or back."""

import torch
from torch import Tensor, nn

from nary.models.stare.products import rotated
from nary.models.stare.sparse import SparseMatrix


class Direction(nn.Module):
    """What entities receive along the edges: the sum over edges of weight * (sender rotated by composition).

    Rotating is linear. So where many senders tell one receiver the same (have the same composition), they are summed
    first; or where one sender tells many the same, the message is made once: whichever makes fewer messages. Edges
    without weight are left out. Letters: n edges, E entities, C compositions, G messages, k receivers.
    """

    receivers: Tensor

    def __init__(
        self, receivers: Tensor, senders: Tensor, compositions: Tensor, sizes: tuple[int, int], degrees: str
    ) -> None:
        """Ids [n] and the numbers of entities and compositions; ``degrees`` as in the settings."""
        super().__init__()
        entities, kinds = sizes
        weights = _weights(receivers, senders, entities, degrees)
        used = weights > 0
        receivers, senders, compositions, weights = (part[used] for part in (receivers, senders, compositions, weights))
        own, place = torch.unique(receivers, return_inverse=True)
        told, heard = (torch.unique(end * kinds + compositions, return_inverse=True) for end in (senders, receivers))
        keys, message = told if len(told[0]) < len(heard[0]) else heard
        ends, kind, every = keys // kinds, keys % kinds, torch.arange(len(keys))
        if len(told[0]) < len(heard[0]):
            self.sent = SparseMatrix(every, ends, (len(keys), entities))
            self.received = SparseMatrix(place, message, (len(own), len(keys)), weights)
        else:
            self.sent = SparseMatrix(message, senders, (len(keys), entities), weights)
            self.received = SparseMatrix(torch.searchsorted(own, ends), every, (len(own), len(keys)))
        self.said = SparseMatrix(every, kind, (len(keys), kinds))
        self.register_buffer("receivers", own, persistent=False)

    def forward(self, x: Tensor, compositions: Tensor) -> Tensor:
        """Entities [E, d] and compositions [C, d] -> what each of ``receivers`` [k] receives [k, d]."""
        messages = rotated(self.sent(x), self.said(compositions))  # [G, d]
        received: Tensor = self.received(messages)
        return received


def _weights(receivers: Tensor, senders: Tensor, entities: int, degrees: str) -> Tensor:
    """The weight of each edge [n]: one over the root of the degrees of its ends."""
    received = torch.bincount(receivers, minlength=entities)
    sent = received if degrees == "received" else torch.bincount(senders, minlength=entities)
    product = received[receivers] * sent[senders]
    return torch.where(product > 0, product.float().rsqrt(), 0.0)
