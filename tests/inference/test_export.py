"""Exported vectors and programs: what other programs read from them is what the model has and scores."""

import csv
import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import polars as pl
import pytest
import torch
from runs.small import SMALL, small_data, small_run

from nary.data.dataset import Dataset
from nary.errors import MissingExtraError, NaryError, OutputError, SettingError
from nary.facts import Vocabulary
from nary.inference.export import export
from nary.models.base import DatasetInfo, Model
from nary.models.batch import Batch, Group
from nary.models.blend.model import Blend
from nary.models.blend.settings import BlendSettings
from nary.models.gran import Gran, GranSettings
from nary.runs import TrainedModel

ARITY = 4
ODD = "tab\there\\ and\nthere"


def model_of(data: Dataset, **settings: object) -> Model:
    """An untrained GRAN away from the zeros that biases start with."""
    torch.manual_seed(1)
    small = {key.partition(".")[2]: value for key, value in SMALL.items() if key.startswith("model.")}
    model = Gran(GranSettings(**{**small, **settings}), DatasetInfo.from_dataset(data))  # type: ignore[arg-type]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return model.eval()


@pytest.fixture(scope="module")
def data() -> Dataset:
    found = small_data()
    names = found.vocabulary
    return Dataset("odd", Vocabulary(names.entities, names.relations, {names.entities[1]: ODD}), found.splits)


@pytest.fixture(scope="module")
def model(data: Dataset) -> Model:
    return model_of(data, num_layers=2, partial_embedding=True)


@pytest.fixture(scope="module")
def programs(model: Model, data: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both programs for facts of :data:`ARITY`."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("scores.pt2", "scores.onnx"):
        export(model, data, folder / name, arity=ARITY)
    return folder


def questions(data: Dataset, size: int, column: int | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """Facts drawn from the ids there are, each with a masked column."""
    chance = np.random.default_rng(size)
    names = data.vocabulary
    ids = chance.integers(0, len(names.entities), (size, 2 * ARITY - 1))
    relations = [0, *range(3, 1 + ARITY)]
    ids[:, relations] = chance.integers(0, len(names.relations), (size, len(relations)))
    columns = chance.integers(0, 2 * ARITY - 1, size) if column is None else np.full(size, column)
    return torch.from_numpy(ids), torch.from_numpy(columns)


def expected(model: Model, ids: torch.Tensor, columns: torch.Tensor) -> list[np.ndarray]:
    group = Group(ids, columns, partial=torch.ones(len(ids), dtype=torch.bool))
    with torch.inference_mode():
        return [model.score(Batch([group]), kind).numpy() for kind in ("entity", "relation")]


def rows_of(path: Path) -> list[list[str]]:
    """The lines of a names file, which must not need quotes."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def cases(data: Dataset) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Several numbers of facts, and every position."""
    return [questions(data, n) for n in (1, 2, 5, 33)] + [questions(data, 3, c) for c in range(2 * ARITY - 1)]


def test_onnx_scores_as_the_model_does(programs: Path, model: Model, data: Dataset) -> None:
    session = onnxruntime.InferenceSession(programs / "scores.onnx", providers=["CPUExecutionProvider"])
    assert [given.name for given in session.get_inputs()] == ["ids", "columns"]
    assert [given.name for given in session.get_outputs()] == ["entity_scores", "relation_scores"]
    for ids, columns in cases(data):
        found = session.run(None, {"ids": ids.numpy(), "columns": columns.numpy()})
        for mine, theirs in zip(expected(model, ids, columns), found, strict=True):
            np.testing.assert_allclose(theirs, mine, rtol=0, atol=1e-4)


def test_torch_export_scores_as_the_model_does(programs: Path, model: Model, data: Dataset) -> None:
    program = torch.export.load(programs / "scores.pt2").module()
    for ids, columns in cases(data):
        for mine, theirs in zip(expected(model, ids, columns), program(ids, columns), strict=True):
            np.testing.assert_allclose(theirs.numpy(), mine, rtol=0, atol=1e-4)


def test_what_stands_at_the_masked_column_does_not_matter(programs: Path, data: Dataset) -> None:
    session = onnxruntime.InferenceSession(programs / "scores.onnx", providers=["CPUExecutionProvider"])
    ids, columns = questions(data, 6)
    empty = ids.scatter(1, columns[:, None], 0)
    first, second = (session.run(None, {"ids": i.numpy(), "columns": columns.numpy()}) for i in (ids, empty))
    assert all(np.array_equal(one, other) for one, other in zip(first, second, strict=True))


def test_programs_tell_about_themselves_and_not_about_this_machine(programs: Path, data: Dataset, model: Model) -> None:
    stored = {prop.key: prop.value for prop in onnx.load(programs / "scores.onnx").metadata_props}
    extra = {"nary.json": ""}
    torch.export.load(programs / "scores.pt2", extra_files=extra)
    about = json.loads(stored["nary"])
    assert about == json.loads(extra["nary.json"])
    assert (about["model"], about["arity"], about["fingerprint"]) == ("gran", ARITY, data.fingerprint)
    assert about["columns"] == ["relation", "subject", "object", "attribute 1", "attribute 2", "value 1", "value 2"]
    place = str(Path(__file__).parents[2]).encode()
    for name in ("scores.onnx", "scores.pt2"):
        assert place not in (programs / name).read_bytes()
    assert all(parameter.requires_grad for parameter in model.parameters())  # the model itself is left as it was


def test_names_stand_in_the_order_of_the_vectors(programs: Path, model: Model, data: Dataset, tmp_path: Path) -> None:
    written = export(model, data, tmp_path / "vectors.npy")
    assert written.names == tmp_path / "vectors.npy.names.tsv"
    header, *rows = rows_of(written.names)
    assert header == ["name", "label", "kind", "id"]
    names = data.vocabulary
    assert [(name, kind, int(i)) for name, _, kind, i in rows] == [
        *((name, "entity", i) for i, name in enumerate(names.entities)),
        *((name, "relation", i) for i, name in enumerate(names.relations)),
    ]
    assert [label for _, label, _, _ in rows[:2]] == [names.entities[0], r"tab\there\\ and\nthere"]
    assert rows_of(programs / "scores.onnx.names.tsv") == [header, *rows]
    vectors = np.load(tmp_path / "vectors.npy")
    tables = [model.candidates(kind)[0].detach().numpy() for kind in ("entity", "relation")]
    assert np.array_equal(vectors, np.concatenate(tables))


def test_all_formats_hold_the_same_vectors(model: Model, data: Dataset, tmp_path: Path) -> None:
    for name in ("v.tsv", "v.npy", "v.parquet"):
        export(model, data, tmp_path / name)
    vectors = np.load(tmp_path / "v.npy")
    assert np.array_equal(np.loadtxt(tmp_path / "v.tsv", np.float32, delimiter="\t"), vectors)
    frame = pl.read_parquet(tmp_path / "v.parquet")
    assert frame.columns == ["name", "label", "kind", "id", "vector"]
    assert np.array_equal(np.array(frame["vector"].to_list(), np.float32), vectors)
    assert frame["label"][1] == ODD
    assert not (tmp_path / "v.parquet.names.tsv").exists()
    assert len(rows_of(tmp_path / "v.tsv.names.tsv")) == 1 + len((tmp_path / "v.tsv").read_text().splitlines())


def test_the_format_may_be_named(model: Model, data: Dataset, tmp_path: Path) -> None:
    assert export(model, data, tmp_path / "v", "npy").format == "npy"
    assert np.load(tmp_path / "v").shape[0] == len(data.vocabulary.entities) + len(data.vocabulary.relations)
    assert export(model, data, tmp_path / "w.tsv", "npy").format == "npy"
    assert {path.name for path in tmp_path.iterdir()} == {"v", "v.names.tsv", "w.tsv", "w.tsv.names.tsv"}


@pytest.mark.parametrize(
    ("name", "format", "arity", "message"),
    [
        ("v", None, None, "is not a known format"),
        ("v.txt", None, None, "is not a known format"),
        ("v.npy", "nyp", None, "unknown format 'nyp'"),
        ("v.npy", None, 3, "--arity does not apply to npy"),
        ("v.onnx", None, 9, "no facts of arity 9"),
        ("v.pt2", None, 1, "no facts of arity 1"),
    ],
)
def test_mistakes(
    model: Model, data: Dataset, tmp_path: Path, name: str, format: str | None, arity: int | None, message: str
) -> None:
    with pytest.raises(SettingError, match=message) as caught:
        export(model, data, tmp_path / name, format, arity)
    assert caught.value.hint
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("there", ["v.npy", "v.npy.names.tsv"])
def test_nothing_is_overwritten(model: Model, data: Dataset, tmp_path: Path, there: str) -> None:
    (tmp_path / there).write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        export(model, data, tmp_path / "v.npy")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(there, "mine")]


@pytest.mark.parametrize("length", [250, 300])
def test_nothing_is_half_written(model: Model, data: Dataset, tmp_path: Path, length: int) -> None:
    """Of the shorter name only the names file cannot be written, when the vectors are complete."""
    with pytest.raises(OutputError, match=r"cannot write .*too long"):
        export(model, data, tmp_path / f"{'v' * (length - 4)}.npy")
    assert not list(tmp_path.iterdir())


def test_onnx_needs_the_extra(model: Model, data: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(MissingExtraError) as caught:
        export(model, data, tmp_path / "v.onnx")
    assert "nary[export]" in str(caught.value.hint)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["v.tsv", "v.parquet", "v.npy", "v.pt2", "v.onnx"])
def test_a_model_without_vectors_says_so(name: str, tmp_path: Path) -> None:
    run: TrainedModel = small_run(tmp_path / "run", "frequency")
    with pytest.raises(NaryError, match="frequency has no vectors of entities and relations"):
        export(run.module, run.dataset, tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize(
    "settings",
    [
        {
            "role_embeddings": "position",
            "pair_edges": True,
            "norm": "pre",
            "tie_embeddings": False,
            "edge_bias": "per-layer",
        },
        {
            "role_embeddings": "role",
            "edge_bias": "per-head",
            "edge_bias_on": "value",
            "head": "equation",
            "near_facts": 2,
            "composition_residual": True,
        },
    ],
    ids=["one half", "the other half"],
)
def test_the_options_of_gran_can_be_exported(settings: dict[str, object], data: Dataset, tmp_path: Path) -> None:
    model = model_of(data, **settings)
    export(model, data, tmp_path / "scores.pt2", arity=ARITY)
    program = torch.export.load(tmp_path / "scores.pt2").module()
    for size in (1, 4):
        ids, columns = questions(data, size)
        for mine, theirs in zip(expected(model, ids, columns), program(ids, columns), strict=True):
            np.testing.assert_allclose(theirs.numpy(), mine, rtol=0, atol=1e-4)


def test_a_blend_can_be_exported(data: Dataset, tmp_path: Path) -> None:
    parts = [{"model": {"name": name, "num_layers": 1, "hidden_dim": 16}} for name in ("gran", "hy-transformer")]
    torch.manual_seed(1)
    blend = Blend(BlendSettings(parts=parts), DatasetInfo.from_dataset(data)).eval()
    export(blend, data, tmp_path / "scores.pt2", arity=ARITY)
    program = torch.export.load(tmp_path / "scores.pt2").module()
    for ids, columns in cases(data):
        for mine, theirs in zip(expected(blend, ids, columns), program(ids, columns), strict=True):
            np.testing.assert_allclose(theirs.numpy(), mine, rtol=0, atol=1e-4)
