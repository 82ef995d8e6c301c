"""Mutated files and folders: an error that says so, or the same content; never a crash or a silent change."""

import random
import shutil
import signal
import warnings
from pathlib import Path
from typing import Any

from torture.common import OPTIONS, Group, apart, mutate, timed

_FORMATS = ("f.jsonl", "f.tsv", "f.csv", "f.parquet", "f.jsonl.gz", "f.tsv.bz2", "f.tsv.zst", "f.gran.json")
_AT_ONCE = 50
_SECONDS = 60  # for one file
_SEPARATE = {"manifest.json"}  # without it, a folder loads with a warning


def mutated_files(folder: Path, times: int, chance: random.Random) -> list[Group]:
    """Read ``times`` mutated files of each format."""
    facts = folder / "source.jsonl"
    timed("generate", facts, "--facts", 200, "--entities", 40)
    groups = []
    for name in _FORMATS:
        source = folder / name
        timed("convert", facts, source, *(["--to", "gran"] if "gran" in name else []))
        group = Group(f"mutated files: {name.removeprefix('f.')}", "facts, or an error for people")
        for start in range(0, times, _AT_ONCE):
            seeds = [chance.getrandbits(32) for _ in range(min(_AT_ONCE, times - start))]
            outcomes = apart(_read_all, str(source), seeds)
            for outcome in outcomes if isinstance(outcomes, list) else [outcomes] * len(seeds):
                group.count(outcome)
        groups.append(group)
    return groups


def _read_all(source: str, seeds: list[int]) -> list[str | None]:
    from nary.data.io.reader import read

    original = Path(source).read_bytes()
    target = Path(source).with_name(f"mutated-{Path(source).name}")
    outcomes = []
    for seed in seeds:
        target.write_bytes(mutate(original, random.Random(seed)))
        outcomes.append(_outcome(lambda: read(target, on_error="skip" if seed % 2 else "stop"), seed))  # noqa: B023
    return outcomes


def _outcome(action: Any, seed: int) -> str | None:
    """None if it ends well or with an error for people."""
    from nary.errors import NaryError

    signal.alarm(_SECONDS)  # ends the process, which counts as a failure
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            action()
            return None
    except NaryError:
        return None
    except Exception as error:
        return f"seed {seed}: {type(error).__name__}: {error}"[:300]
    finally:
        signal.alarm(0)


def mutated_folders(folder: Path, times: int, chance: random.Random) -> list[Group]:
    """Load mutated model folders, and resume mutated runs, ``times`` each."""
    facts, run = folder / "facts.jsonl", folder / "intact"
    timed("generate", facts, "--facts", 200, "--entities", 40)
    timed("train", facts, *OPTIONS, "--set", "training.epochs=3", "--out", run)
    groups = []
    for name, promise, work in (
        ("mutated model folders", "the same model, or an error for people", _load_all),
        ("mutated run folders", "resumed, or an error for people", _resume_all),
        ("mutated model folders, not verified", "no crash", _load_unverified),
    ):
        group = Group(name, promise)
        for start in range(0, times, _AT_ONCE):
            seeds = [chance.getrandbits(32) for _ in range(min(_AT_ONCE, times - start))]
            outcomes = apart(work, str(run), seeds)
            for outcome in outcomes if isinstance(outcomes, list) else [outcomes] * len(seeds):
                group.count(outcome)
        groups.append(group)
    return groups


def _mutated_copy(run: str, seed: int) -> tuple[Path, str]:
    """A copy of the run in which one file is mutated, replaced by that of another name, or missing; and its name."""
    chance = random.Random(seed)
    copy = Path(run).with_name("mutated")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(run, copy)
    files = sorted(path for path in copy.rglob("*") if path.is_file() and path.name not in _SEPARATE)
    victim = chance.choice(files)
    kind = chance.randrange(8)
    if kind == 0:
        victim.unlink()
    elif kind == 1:
        victim.write_bytes(chance.choice(files).read_bytes())
    else:
        victim.write_bytes(mutate(victim.read_bytes(), chance))
    return copy, victim.name


def _answers(model: Any) -> object:
    fact = next(iter(model.dataset.test.facts(model.dataset.vocabulary)))
    query = next(iter(fact.elements()))
    return model.predict(fact.query(query), 3).as_dict()


def _load_all(run: str, seeds: list[int]) -> list[str | None]:
    from nary.runs import load_model

    expected = _answers(load_model(run))

    def check(seed: int) -> str | None:
        copy, name = _mutated_copy(run, seed)
        return None if _answers(load_model(copy)) == expected else f"seed {seed}: {name} was changed without a word"

    return [_guarded(check, seed) for seed in seeds]


def _load_unverified(run: str, seeds: list[int]) -> list[str | None]:
    from nary.runs import load_model

    def check(seed: int) -> str | None:
        copy, _ = _mutated_copy(run, seed)
        load_model(copy, verify=False)
        return None

    return [_guarded(check, seed) for seed in seeds]


def _resume_all(run: str, seeds: list[int]) -> list[str | None]:
    from nary.runs import resume

    def check(seed: int) -> str | None:
        copy, _ = _mutated_copy(run, seed)
        shutil.rmtree(copy / "checkpoints") if seed % 4 == 0 else None
        resume(copy)
        return None

    return [_guarded(check, seed) for seed in seeds]


def _guarded(check: Any, seed: int) -> str | None:
    results: list[str | None] = []
    return _outcome(lambda: results.append(check(seed)), seed) or (results[0] if results else None)
