"""Kills at random moments: nothing is corrupted, and the work goes on to the same end."""

import random
import shutil
from pathlib import Path

from torture.common import OPTIONS, Command, Group, content, leftovers, nary, timed

_TIMES = ("metrics.jsonl", "log.txt", "curves.png", "manifest.json", "README.md")  # hold times, or checksums of them


def random_kills(folder: Path, times: int, chance: random.Random) -> list[Group]:
    """Kill trainings, updates, evaluations, conversions and files of predictions, ``times`` each."""
    facts = folder / "facts.jsonl"
    timed("generate", facts, "--facts", 300, "--entities", 60)
    reference = folder / "reference"
    seconds = timed("train", facts, *OPTIONS, "--out", reference)
    return [
        _trainings(folder, reference, facts, seconds, times, chance),
        _updates(folder, reference, times, chance),
        _evaluations(folder, reference, times, chance),
        _conversions(folder, facts, times, chance),
        _predictions(folder, reference, times, chance),
    ]


def _trainings(folder: Path, reference: Path, facts: Path, seconds: float, times: int, chance: random.Random) -> Group:
    group = Group("kills of training", "resumed to the same weights, bit for bit")
    expected = (reference / "model" / "model.safetensors").read_bytes()
    while group.tried < times:
        run, kills = folder / "run", 0
        shutil.rmtree(run, ignore_errors=True)
        while kills < 3 and group.tried + kills < times:
            how = ["--resume", run] if (run / "recipe.toml").exists() else [facts, *OPTIONS, "--out", run]
            if not Command("train", *how).kill_after(chance.uniform(0, seconds)):
                break
            kills += 1
        how = ["--resume", run] if (run / "recipe.toml").exists() else [facts, *OPTIONS, "--out", run]
        ended = nary("train", *how)
        failure = ended.complaint or (None if ended.code == 0 else ended.err) or leftovers(folder)
        if failure is None and (run / "model" / "model.safetensors").read_bytes() != expected:
            failure = "other weights than without a kill"
        if failure is None and nary("verify", run).code != 0:
            failure = "files differ from their checksums"
        for _ in range(max(1, kills)):
            group.count(failure)
    return group


def _updates(folder: Path, reference: Path, times: int, chance: random.Random) -> Group:
    group = Group("kills of update", "the new model is whole or not there, the old one stays")
    facts, before = folder / "new-facts.jsonl", content(reference)
    timed("generate", facts, "--facts", 20, "--entities", 80, "--seed", 1)
    expected = folder / "updated"
    seconds = timed("update", reference, facts, "--out", expected)
    for number in range(times):
        out = folder / f"updated-{number}"
        Command("update", reference, facts, "--out", out).kill_after(chance.uniform(0, seconds))
        ended = None if out.exists() else nary("update", reference, facts, "--out", out)
        failure = (ended.complaint if ended else None) or leftovers(folder)
        if failure is None and content(out) != content(expected):
            failure = "another model than without a kill"
        if failure is None and content(reference) != before:
            failure = "the old model was changed"
        group.count(failure)
    return group


def _evaluations(folder: Path, reference: Path, times: int, chance: random.Random) -> Group:
    group = Group("kills of evaluate", "the folder stays valid, the next report is the same")
    run = folder / "evaluated"
    shutil.copytree(reference, run)
    seconds = timed("evaluate", run)
    expected = content(run / "model", without=_TIMES)
    for _ in range(times):
        Command("evaluate", run, "--split", chance.choice(("valid", "test"))).kill_after(chance.uniform(0, seconds))
        failure = None if nary("verify", run).code == 0 else "files differ from their checksums"
        ended = nary("evaluate", run)
        failure = failure or ended.complaint or leftovers(folder)
        if failure is None and content(run / "model", without=(*_TIMES, "metrics.json")).items() - expected.items():
            failure = "a file was changed"
        group.count(failure)
    return group


def _conversions(folder: Path, facts: Path, times: int, chance: random.Random) -> Group:
    group = Group("kills of convert", "the output is whole or not there")
    for number in range(times):
        out = folder / f"converted-{number}" / chance.choice(("out.tsv", "out.parquet", "out.jsonl.gz"))
        expected = folder / f"expected{''.join(out.suffixes)}"
        if not expected.exists():
            timed("convert", facts, expected)
        Command("convert", facts, out).kill_after(chance.uniform(0, 0.5))
        failure = "half a file" if out.exists() and out.read_bytes() != expected.read_bytes() else None
        ended = nary("convert", facts, out)
        failure = failure or ended.complaint or leftovers(out.parent)
        if failure is None and out.read_bytes() != expected.read_bytes():
            failure = "another output than without a kill"
        group.count(failure)
    return group


def _predictions(folder: Path, reference: Path, times: int, chance: random.Random) -> Group:
    group = Group("kills of predict --out", "continued, every line once")
    queries = folder / "queries.txt"
    queries.write_text("".join(f"entity {i % 50:06} | relation 01 | ?\n" for i in range(1, 400)))
    expected = folder / "expected-answers.jsonl"
    arguments = ["predict", reference, "--facts", queries, "--on-error", "skip", "--out"]
    seconds = timed(*arguments, expected)
    for number in range(times):
        out = folder / f"answers-{number}.jsonl"
        Command(*arguments, out).kill_after(chance.uniform(0, seconds))
        ended = nary(*arguments, out)
        failure = ended.complaint
        if failure is None and out.read_bytes() != expected.read_bytes():
            failure = "other lines than without a kill"
        group.count(failure)
    return group
