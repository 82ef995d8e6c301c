"""The weights of all workers in one file, the same that a process without others would write.

The first worker writes it, a block of rows at a time. Every process can then map it into memory: no process holds a
whole table, and those of one machine share what they read.
"""

from collections.abc import Iterator
from pathlib import Path

from torch import Tensor

from nary.models.weights import in_file_order, write_parts
from nary.training.distributed.tables import ShardedTables


def write_whole(tables: ShardedTables, path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write the file at the first worker; all workers call this, and wait until it is written."""
    outline, weights = tables.outline(), tables.model.state_dict()

    def parts(name: str) -> Iterator[Tensor]:
        return tables.blocks(name) if name in tables.parameters else iter([weights[name]])

    if tables.workers.is_first:
        write_parts(outline, parts, path, metadata)
    else:
        for name in in_file_order(outline):
            for _ in parts(name):  # which sends them
                pass
    tables.workers.wait()
