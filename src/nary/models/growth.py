"""A model for a larger vocabulary, with the weights of a model for a smaller one.

The names of the smaller vocabulary are the first ones of the larger: new ones are appended. Names of the smaller one
can be new, too: if they had no facts to learn from.
"""

from collections.abc import Iterator
from typing import get_args

import torch
from torch import Tensor

from nary.config import Settings
from nary.errors import SettingError
from nary.models.base import DatasetInfo, Kind, Model
from nary.models.new_names import NewNames
from nary.models.registry import MODELS

NewRows = dict[str, Tensor]
"""By the name of a parameter: its rows [n] that are not those of the smaller model, ascending."""


def grow(smaller: Model, settings: Settings, info: DatasetInfo, names: NewNames) -> tuple[Model, NewRows]:
    """A model for ``info`` with the weights of ``smaller``, which has these settings; and which of its rows are new.

    New rows, among them those of the new ``names``, start as the mean of the others of their kind. A parameter that is
    new as a whole, such as one for facts of another arity, starts as for training.
    """
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        model = MODELS.get(smaller.name)(settings, info)
    old, longer = smaller.state_dict(), info.max_arity > smaller.info.max_arity
    wider = any(name in old and tensor.shape[1:] != old[name].shape[1:] for name, tensor in model.state_dict().items())
    if wider or (longer and not smaller.supports_longer_facts):
        raise SettingError(
            f"{smaller.name} was trained on facts of at most {smaller.info.max_arity} elements, and cannot learn some "
            f"of {info.max_arity} without being trained anew",
            "Leave the longer facts out, or train a model on all facts.",
        )
    model.to(next(smaller.parameters(), torch.empty(0)).device)
    new_rows = take_weights(model, smaller)
    for name, rows in _start_at_mean(model, names):
        new_rows[name] = torch.unique(torch.cat([rows, new_rows[name]])) if name in new_rows else rows
    return model, new_rows


@torch.no_grad()
def take_weights(model: Model, smaller: Model) -> NewRows:
    """Copy the weights of ``smaller`` to their rows in ``model``; those of its rows that are new."""
    new_rows, old, parameters = {}, smaller.state_dict(), dict(model.named_parameters())
    for name, tensor in model.state_dict().items():
        if name not in parameters or not tensor.dim():  # statistics of norms, knots, single numbers
            if name in old:  # knots of new scales stay as they are
                tensor[tuple(map(slice, old[name].shape))] = old[name]
        elif name not in old:
            new_rows[name] = torch.arange(len(tensor), device=tensor.device)
        else:
            places = model.row_places(name, smaller).to(tensor.device)
            is_new = torch.ones(len(tensor), dtype=torch.bool, device=tensor.device)
            is_new[places] = False
            tensor[places], tensor[is_new] = old[name], old[name].mean(0)
            if is_new.any():
                new_rows[name] = is_new.nonzero()[:, 0]
    return new_rows


@torch.no_grad()
def _start_at_mean(model: Model, names: NewNames) -> Iterator[tuple[str, Tensor]]:
    """Set the rows of new names to the mean of the others of their kind; the rows, by the name of their parameter."""
    for kind in get_args(Kind):
        new = torch.from_numpy(names.of_kind(kind))
        if len(new):
            is_old = torch.ones(model.info.num_candidates(kind), dtype=torch.bool)
            is_old[new] = False
            for name, rows in kind_rows(model, kind):
                table = model.get_parameter(name)[rows]
                table[new.to(table.device)] = table[is_old.to(table.device)].mean(0)
                yield name, new.to(table.device) + rows.start


def kind_rows(model: Model, kind: Kind) -> Iterator[tuple[str, slice]]:
    """The rows of parameters that stand for entities, or for relations: the name of the parameter, and where."""
    for name, kinds in model.vocabulary_tables().items():
        start = 0
        for one in kinds:
            size = model.info.num_candidates(one)
            if one == kind:
                yield name, slice(start, start + size)
            start += size
