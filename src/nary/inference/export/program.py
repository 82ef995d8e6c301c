"""The scores of a model as a program: it takes masked facts of one arity and gives the scores of all candidates.

Inputs are ``ids`` [n, 2m+3] (relation, subject, object, attributes, values; at the masked column any id, such as 0) and
``columns`` [n], the masked column of each fact, both int64. Outputs are ``entity_scores`` [n, E] and
``relation_scores`` [n, R]: the first means something where the masked column holds an entity, the second where it holds
a relation. As in ``nary predict``, the facts may have further qualifiers.
"""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram

from nary.errors import MissingExtraError, OutputError
from nary.facts.layout import num_columns, position_at
from nary.inference.export.vectors import Source
from nary.models.base import Model
from nary.models.batch import Batch, Group
from nary.version import __version__

_INPUTS = ("ids", "columns")
_OUTPUTS = ("entity_scores", "relation_scores")
_LARGEST_ONNX = 2_000_000_000  # a file may not exceed 2 GiB


class _Scores(nn.Module):
    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor, columns: Tensor) -> tuple[Tensor, ...]:
        partial = torch.ones_like(columns, dtype=torch.bool)
        query = self.model.encode(Batch([Group(ids, columns, partial=partial)]))
        tables = (self.model.candidates(kind) for kind in ("entity", "relation"))
        return tuple(torch.addmm(bias, query, table.T) for table, bias in tables)


def write_torch(source: Source, path: Path) -> None:
    """A program for ``torch.export.load``; ``nary.json`` in it tells about it."""
    traced = _trace(source)
    content = BytesIO()  # torch aborts the process if it cannot write to a file
    with _quiet():
        torch.export.save(traced, content, extra_files={"nary.json": orjson.dumps(_about(source)).decode()})
    path.write_bytes(content.getbuffer())


def write_onnx(source: Source, path: Path) -> None:
    """An ONNX program; its metadata under ``nary`` tell about it."""
    try:
        import onnxscript  # noqa: F401 (torch.onnx needs it, and onnx with it)
    except ImportError:
        raise MissingExtraError("Writing ONNX", "export") from None
    size = sum(tensor.numel() * tensor.element_size() for tensor in source.model.state_dict().values())
    if size > _LARGEST_ONNX:
        raise OutputError(f"the weights are {size:,} bytes, too much for an ONNX file", "Export with --format torch.")
    with _quiet():
        program = torch.onnx.export(
            _trace(source), dynamo=True, verbose=False, input_names=_INPUTS, output_names=_OUTPUTS
        )
        if program is None:
            raise AssertionError("torch.onnx.export gives a program when it is given no file")
        program.model.metadata_props["nary"] = orjson.dumps(_about(source)).decode()
        program.save(path, external_data=False)


def _trace(source: Source) -> ExportedProgram:
    """The program for any number of facts, without the paths of this machine that tracing leaves in it."""
    model = deepcopy(source.model).cpu().eval().requires_grad_(False)
    ids = torch.zeros(2, num_columns(source.arity - 2), dtype=torch.int64)
    any_number = {0: Dim("n")}
    with _quiet():
        traced = torch.export.export(_Scores(model), (ids, torch.arange(2)), dynamic_shapes=(any_number, any_number))
    for node in traced.graph.nodes:
        node.meta.pop("stack_trace", None)
    return traced


def _about(source: Source) -> dict[str, Any]:
    num_qualifiers = source.arity - 2
    return {
        "nary": __version__,
        "model": source.model.name,
        "dataset": source.dataset.name,
        "fingerprint": source.dataset.fingerprint,
        "arity": source.arity,
        "columns": [str(position_at(column, num_qualifiers)) for column in range(num_columns(num_qualifiers))],
        "inputs": _INPUTS,
        "outputs": _OUTPUTS,
    }


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what the exporters say about packages they miss and about their own future."""
    logger = logging.getLogger("torch.onnx")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)
