"""Exported programs hold what the graph encoder made, not the graph."""

from pathlib import Path

import onnxruntime
import pytest
import torch
from contracts.model import asking
from models.stare.test_contract import SMALL
from runs.small import small_data

from nary.inference.export import export
from nary.models.base import DatasetInfo
from nary.models.batch import Batch, Group
from nary.models.stare.model import Stare, StareSettings


@pytest.mark.parametrize("variant", ["graph", "transformer"])
def test_a_program_scores_like_the_model(variant: str, tmp_path: Path) -> None:
    data = small_data()
    torch.manual_seed(0)
    model = Stare(StareSettings(**SMALL, variant=variant), DatasetInfo.from_dataset(data))  # type: ignore[arg-type]
    model.eval()
    (group,) = (group for group in asking(data.train, "entity").groups if group.qualifiers == 2)
    relations = Group(group.ids, torch.zeros_like(group.columns))
    for name in ("scores.pt2", "scores.onnx"):
        export(model, data, tmp_path / name, arity=4)
    program = torch.export.load(tmp_path / "scores.pt2").module()
    session = onnxruntime.InferenceSession(tmp_path / "scores.onnx", providers=["CPUExecutionProvider"])
    for place, asked in enumerate((group, relations)):
        expected = model.score(Batch([asked]), "entity" if place == 0 else "relation")
        torch.testing.assert_close(program(asked.ids, asked.columns)[place], expected, rtol=1e-4, atol=1e-5)
        inputs = {"ids": asked.ids.numpy(), "columns": asked.columns.numpy()}
        found = torch.from_numpy(session.run(None, inputs)[place])
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    assert not any(
        "embedding_bag" in str(node.target) for node in torch.export.load(tmp_path / "scores.pt2").graph.nodes
    )
