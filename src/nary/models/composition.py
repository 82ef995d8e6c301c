"""The composition residual of GRAN: what the rest of a triple, or of a qualifier, says of the masked element."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from nary.facts import Role
from nary.facts.layout import FIRST_ATTRIBUTE, OBJECT, RELATION, SUBJECT, first_value, num_columns
from nary.models.batch import Group
from nary.models.products import Linear


class CompositionResidual(nn.Module):
    """Adds up embeddings as translations do, and maps the sum by the role of the masked element.

    An object is composed of subject + relation, a subject of object - relation, a relation of object - subject, and an
    attribute or value of the triple and the other half of its qualifier. What is unknown counts as zero.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.maps = Linear(width, len(Role) * width)

    def forward(self, group: Group, embeddings: Tensor) -> Tensor:
        """From the embeddings of the elements of each fact [n, T, d], for the masked ones [n, d]."""
        device = embeddings.device
        signs = torch.from_numpy(composition_signs(group.qualifiers)).to(device, embeddings.dtype)[group.columns]
        known = embeddings.masked_fill(group.unknown[..., None], 0)
        sums = torch.bmm(signs[:, None], known)[:, 0]
        roles = group.columns.clamp(max=FIRST_ATTRIBUTE) + (group.columns >= first_value(group.qualifiers))
        by_role = self.maps(self.norm(sums)).unflatten(1, (len(Role), -1))
        return by_role.gather(1, roles[:, None, None].expand(-1, 1, embeddings.shape[2]))[:, 0]


@lru_cache(maxsize=256)
def composition_signs(qualifiers: int) -> npt.NDArray[np.float32]:
    """For each masked element, how often the others are added [T, T]."""
    signs = np.zeros((num_columns(qualifiers),) * 2, np.float32)
    signs[RELATION, [SUBJECT, OBJECT]] = -1, 1
    signs[SUBJECT, [RELATION, OBJECT]] = -1, 1
    signs[OBJECT, [RELATION, SUBJECT]] = 1
    signs[FIRST_ATTRIBUTE:, [RELATION, SUBJECT, OBJECT]] = 1
    attributes = np.arange(FIRST_ATTRIBUTE, first_value(qualifiers))
    signs[attributes, attributes + qualifiers] = signs[attributes + qualifiers, attributes] = 1
    return signs
