"""The model folder: what it holds, and what is said about one that is not in order."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from runs.small import small_run

from nary.errors import NaryError, OutputError
from nary.runs import Run, load_run, resume_run


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return small_run(tmp_path_factory.mktemp("trained") / "run", training__epochs=1)


@pytest.fixture
def saved(trained: Run, tmp_path: Path) -> Path:
    trained.save(tmp_path / "model")
    return tmp_path / "model"


def test_a_saved_model_answers_as_before(trained: Run, saved: Path) -> None:
    again = load_run(saved)
    name = trained.dataset.vocabulary.entities[0]
    query = f"{name} | {trained.dataset.vocabulary.relations[-1]} | ?"
    assert again.predict(query) == trained.predict(query)
    assert again.evaluate().metrics == trained.evaluate().metrics
    assert again.dataset.fingerprint == trained.dataset.fingerprint
    assert again.settings == trained.settings
    assert not again.model.training


def test_a_run_folder_and_its_model_folder_are_the_same_model(trained: Run) -> None:
    assert trained.folder is not None
    run, model = load_run(trained.folder), load_run(trained.folder / "model")
    assert run.evaluate().metrics == model.evaluate().metrics
    assert run.recipe == trained.recipe
    assert model.recipe is None


def test_it_is_written_once(trained: Run, saved: Path) -> None:
    with pytest.raises(OutputError, match="cannot write"):
        trained.save(saved)
    load_run(saved)


def test_equal_models_give_equal_files(trained: Run, saved: Path, tmp_path: Path) -> None:
    load_run(saved).save(tmp_path / "again")
    files = [path.relative_to(saved) for path in saved.rglob("*") if path.is_file()]
    assert len(files) == 6
    for file in files:
        if file.suffix != ".parquet":
            assert (tmp_path / "again" / file).read_bytes() == (saved / file).read_bytes(), file


def _config(**changed: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "config.json"
        path.write_bytes(orjson.dumps({**orjson.loads(path.read_bytes()), **changed}))

    return change


def _cut(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / name
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    return change


def _remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def _write(name: str, content: bytes) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_bytes(content)

    return change


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_config(format=2), r"newer version of Nary \(format 2"),
        (_config(format="new"), "damaged"),
        (_config(model={"name": "grannn"}), "unknown model 'grannn'"),
        (_config(model={"name": "gran", "layer": 2}), r"unknown key model\.layer"),
        (_config(model="gran"), "damaged"),
        (_config(model={"name": "gran", "width": 8, "heads": 2}), "damaged weights"),
        (_config(fingerprint="0"), "not those it was made with"),
        (_write("config.json", b"[]"), "damaged"),
        (_write("config.json", b"{}"), "damaged"),
        (_write("model.safetensors", b""), "damaged weights"),
        (_write("vocabulary.json", b"{}"), "."),
        (_cut("config.json"), "damaged"),
        (_cut("model.safetensors"), "damaged weights"),
        (_cut("vocabulary.json"), "."),
        (_cut("facts/train.parquet"), "."),
        (_remove("config.json"), r"no config\.json"),
        (_remove("model.safetensors"), "no weights yet"),
        (_remove("vocabulary.json"), "."),
        (_remove("facts/train.parquet"), "not those it was made with"),
    ],
)
def test_what_is_not_in_order_is_said(saved: Path, damage: Callable[[Path], None], message: str) -> None:
    damage(saved)
    with pytest.raises(NaryError, match=message) as caught:
        load_run(saved)
    assert caught.value.exit_code == 2


def test_facts_of_another_model_are_noticed(saved: Path) -> None:
    (saved / "facts" / "test.parquet").write_bytes((saved / "facts" / "valid.parquet").read_bytes())
    with pytest.raises(NaryError, match="not those it was made with"):
        load_run(saved)


@pytest.mark.parametrize("open", [load_run, resume_run])
def test_what_is_no_folder_of_ours(open: Callable[[Path], Run], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "none", tmp_path, tmp_path / "file"):
        with pytest.raises(NaryError, match=r"no model or run folder|no run folder") as caught:
            open(path)
        assert caught.value.exit_code == 2
        assert "nary train" in str(caught.value.hint)
