"""Commands with absurd arguments, hostile labels and streams that fail: a clear error, and never a traceback."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from apps.command import Nary
from runs.small import NARY, PATIENCE, options, small_data, small_run, start, stop, wait_until

from nary.data.dataset import Dataset
from nary.data.io.writer import write
from nary.errors import NaryError
from nary.facts import Fact
from nary.inference.folder import CONFIG_FILE
from nary.runs import load_model

LONG = "x" * 5000
ESCAPE = "\x1b]0;owned\x07\x1b[2J"
FACTS = [
    Fact(f"s{i % 7}{ESCAPE}", f"r{i % 3}{ESCAPE}", f"o{i}{ESCAPE}", [(f"a{ESCAPE}", f"v{i % 5}{ESCAPE}")])
    for i in range(60)
]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "facts.jsonl"
    write(small_data(), path)
    return path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on facts whose names drive a terminal."""
    folder = tmp_path_factory.mktemp("hostile")
    dataset = Dataset.from_facts("hostile", {"train": FACTS[:40], "valid": FACTS[40:50], "test": FACTS[50:]})
    small_run(folder / "run", dataset=dataset, training__batch_size=8)
    write(dataset, folder / "facts.jsonl")
    return folder


@pytest.mark.parametrize(
    "command",
    [
        "predict {run} QUERY",
        "similar {run} NAME",
        "explain {run} FACT object",
        "score {run} FACT",
        "suggest {run} FACT",
        "facts {run} QUERY",
        "evaluate {run}",
        "stats {file}",
        "check {file}",
        "show {file}",
        "predict {run} UNKNOWN",
        "stats NOWHERE",
    ],
)
def test_terminal_escapes(command: str, hostile: Path, nary: Nary) -> None:
    words = {
        "{run}": hostile / "run",
        "{file}": hostile / "facts.jsonl",
        "QUERY": f"s1{ESCAPE} | r1{ESCAPE} | ?",
        "FACT": f"s1{ESCAPE} | r1{ESCAPE} | o1{ESCAPE}",
        "NAME": f"s1{ESCAPE}",
        "UNKNOWN": f"{ESCAPE} | {ESCAPE} | ?",
        "NOWHERE": f"{ESCAPE}.jsonl",
    }
    outcome = nary(*(words.get(word, word) for word in command.split()))
    text = outcome.out + outcome.err
    assert text
    assert not any(ord(mark) < 32 and mark not in "\n\t" for mark in text), repr(text)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("training.epochs=99999999999999999999", "epochs is 99999999999999999999"),
        ("training.batch_size=100000000", "batch_size is 100000000"),
        ("training.max_steps=99999999999999999999", "max_steps is"),
        ("training.eval_every=99999999999999999999", "eval_every is"),
        ("model.num_layers=1000000", "num_layers is 1,000,000"),
        ("model.hidden_dim=1000000", "GB to train; this machine has"),
        ("model.hidden_dim=1000000000", "more than a tensor can hold"),
        ("model.ffn_dim=999999999999999999999999", "more than a tensor can hold"),
        ("training.device=meta", "cannot compute on the device 'meta'"),
        ("training.seed=" + "9" * 5000, "training.seed is"),
        ("training.seed=" + "[" * 3000, "training.seed is"),
        ("loss.name=margin", 'not for "margin"'),
    ],
    ids=lambda value: value[:40],
)
def test_tracebacks_of_absurd_settings(settings: str, message: str, data: Path, tmp_path: Path, nary: Nary) -> None:
    given = [part for setting in settings.split() for part in ("--set", setting)]
    outcome = nary("train", data, "--model", "gran", *given, "--out", tmp_path / "run")
    assert (outcome.code, message in outcome.err) == (2, True), outcome.err[:1000]
    assert list(tmp_path.iterdir()) == []  # a refused setting leaves no run folder behind


@pytest.mark.parametrize("value", ["[" * 3000 + "]" * 3000, "9" * 5000, "99999999999999999999"])
def test_tracebacks_of_absurd_recipes(value: str, data: Path, tmp_path: Path, nary: Nary) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(f'[model]\nname = "gran"\n[training]\nepochs = {value}\n')
    outcome = nary("train", data, "--recipe", recipe, "--out", tmp_path / "run")
    assert outcome.code == 2, outcome.err[:1000]
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (f"stats {LONG}", "no dataset is called"),
        (f"stats {LONG}.jsonl", "too long"),
        (f"convert {{data}} {LONG}.jsonl", "too long"),
        (f"convert {{data}} {LONG}", "too long"),
        (f"train {{data}} --out {LONG}", "too long"),
        (f"train {{data}} --recipe {LONG}", "too long"),
        (f"predict {LONG} x", "too long"),
        (f"evaluate {LONG}", "too long"),
        (f"verify {LONG}", "too long"),
        (f"serve {LONG} --port 0", "too long"),
        ("convert {data} /", "it is a folder"),
        ("generate out.jsonl --facts 1000000000000000 --entities 10", "number of facts is 1,000,000,000,000,000"),
        ("generate out.jsonl --facts 10 --entities 1000000000000000", "number of entities is"),
        ("generate out.jsonl --facts 5000000 --entities 10 --max-arity 2000000", "maximum arity is 2,000,000"),
        ("generate out --property-graph --facts 1000000000000000", ""),
    ],
    ids=lambda value: value[:30],
)
def test_tracebacks_of_absurd_arguments(
    command: str, message: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nary: Nary
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = nary(*command.format(data=data).split())
    assert (outcome.code, message in outcome.err) == (2, True), outcome.err[:1000]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [0, -1])
def test_tracebacks_of_formats_that_never_were(number: int, tmp_path: Path) -> None:
    small_run(tmp_path / "run")
    config = tmp_path / "run" / "model" / CONFIG_FILE
    config.write_text(config.read_text().replace('"format": 1', f'"format": {number}'))
    with pytest.raises(NaryError, match=f"there is no format {number}"):
        load_model(tmp_path / "run", verify=False)


def closed(number: int) -> Callable[[], None]:
    return lambda: os.close(number)


def run(*arguments: object, **how: object) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run([*NARY, *map(str, arguments)], timeout=PATIENCE, check=False, **how)  # type: ignore[call-overload,no-any-return]


def test_full_standard_streams(data: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = run("stats", data, stdout=full, stderr=subprocess.PIPE)
        assert (ended.returncode, ended.stderr) == (
            2,
            b"error: cannot write the output: No space left on device\nDirect it elsewhere.\n",
        )
        assert run("stats", "nowhere.tsv", stdout=subprocess.PIPE, stderr=full).returncode == 2


def test_closed_standard_streams(data: Path) -> None:
    for number in (0, 1, 2):
        ended = run("stats", data, "--json", capture_output=True, preexec_fn=closed(number))
        assert ended.returncode == 0
        assert ended.stderr == b""


def test_ascii_output_encoding(tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"
    path.write_text('{"subject": "Curie", "relation": "prix reçu", "object": "b"}\n', encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ended = run("stats", "prix reçu", capture_output=True, env=environment)
    assert (ended.returncode, b"no dataset is called" in ended.stderr) == (2, True), ended.stderr
    ended = run("stats", path, "--json", capture_output=True, env=environment)
    assert (ended.returncode, b"prix re\\u00e7u" in ended.stdout) == (0, True), ended.stderr


def test_a_deleted_working_folder(data: Path, tmp_path: Path) -> None:
    program = "import os, sys; os.chdir(sys.argv[1]); os.rmdir(sys.argv[1]); os.execv(sys.argv[2], sys.argv[2:])"
    for number, command in enumerate((["stats", "facts.jsonl"], ["train", str(data), "--set", "training.epochs=1"])):
        gone = tmp_path / str(number)
        gone.mkdir()
        started = [sys.executable, "-c", program, str(gone), *NARY, *command]
        ended = subprocess.run(started, capture_output=True, timeout=PATIENCE, check=False)
        assert (ended.returncode, b"Traceback" in ended.stderr) == (2, False), ended.stderr
        assert b"the working folder does not exist" in ended.stderr


def test_a_diverged_run_is_said(data: Path, tmp_path: Path, nary: Nary) -> None:
    rate = ["--set", "training.learning_rate=30.0"]
    outcome = nary("train", data, "--model", "gran", *options(training__epochs=20), *rate, "--out", tmp_path / "run")
    assert outcome.code == 0
    assert "note: the training has diverged: the loss rose from " in outcome.err


def test_sigterm_in_training_saves(data: Path, tmp_path: Path, nary: Nary) -> None:
    folder = tmp_path / "run"
    process = start("train", data, *options(training__epochs=2000), "--out", folder)
    wait_until((folder / "metrics.jsonl").exists, process)
    code, err = stop(process, signal.SIGTERM)
    assert (code, "stopped after step" in err) == (130, True), err
    assert f"nary train --resume {folder}" in err
    assert list((folder / "checkpoints").glob("*.safetensors"))
    assert nary("verify", folder).code == 0
