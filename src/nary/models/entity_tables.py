"""Initial values of tables with a row for each entity, of which a model may have the rows of one worker only.

Every worker draws all rows of a large table, a block at a time, and keeps only its own rows. The values then do not
depend on the number of workers, and no process holds the whole table. No block can be skipped: the rows are dealt out
round-robin, and the random numbers of a block depend on all earlier ones.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from nary.models.base import DatasetInfo

DRAWN_AT_ONCE = 1 << 25  # numbers of a table; recorded results depend on it
BLOCK = 1 << 20  # numbers of a larger table: torch needs several times their memory, which stays in the caches


def draw_table(table: Tensor, draw: Callable[[Tensor], object], info: "DatasetInfo", first: int | None = None) -> None:
    """Initialize a ``table`` [R, ...] by ``draw``, which initializes some of its rows in place.

    The entities begin at row ``first``; without it there are none, and the table has all its rows.
    """
    whole = len(table) if first is None else len(table) - info.num_entity_rows + info.num_entities
    width, done = table[:1].numel(), 0
    size = whole if whole * width <= DRAWN_AT_ONCE else max(1, BLOCK // width)
    if first is None or info.workers.size == 1:
        for rows in torch.split(table, size):
            draw(rows)
        return
    for start in range(0, whole, size):
        block = table.new_empty(min(size, whole - start), *table.shape[1:])
        draw(block)
        entities = torch.arange(start, start + len(block)) - first
        is_entity = (entities >= 0) & (entities < info.num_entities)
        kept = block[~is_entity | (entities % info.workers.size == info.workers.rank)]
        table[done : done + len(kept)] = kept
        done += len(kept)


def xavier_entities(
    info: "DatasetInfo", width: int, kind: Literal["normal", "uniform"] = "normal", mean: float = 0.0
) -> nn.Parameter:
    """A new table [E, width] around ``mean``, as ``nn.init`` draws it by the method of Glorot and Bengio."""
    deviation = math.sqrt(2 / (info.num_entities + width))
    bound = math.sqrt(3) * deviation
    table = torch.empty(info.num_entity_rows, width)
    if kind == "normal":
        draw_table(table, lambda rows: nn.init.normal_(rows, mean, deviation), info, 0)
    else:
        draw_table(table, lambda rows: nn.init.uniform_(rows, mean - bound, mean + bound), info, 0)
    return nn.Parameter(table)
