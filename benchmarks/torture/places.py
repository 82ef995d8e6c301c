"""Places that are full, or written to by many at once: a clear error or the whole result."""

import os
import random
import subprocess
from pathlib import Path

import orjson
from torture.common import OPTIONS, Command, Group, content, leftovers, timed

_TMPFS_KILOBYTES = (16, 64, 200, 500)


def full_disks(folder: Path, times: int, chance: random.Random) -> list[Group]:
    """Write to a file system of some kilobytes; needs the rights to mount one."""
    group = Group("full disk", "an error for people, and what was there stays")
    facts, run = folder / "facts.jsonl", folder / "run"
    timed("generate", facts, "--facts", 1000, "--entities", 100)
    timed("train", facts, *OPTIONS, "--set", "training.epochs=2", "--out", run)
    disk = folder / "disk"
    disk.mkdir()
    for _ in range(times):
        size = chance.choice(_TMPFS_KILOBYTES)
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", disk], capture_output=True, check=False
        )
        if mounted.returncode:
            group.note = "skipped: no rights to mount a file system"
            break
        try:
            (disk / "mine").write_bytes(b"x" * 4000)
            before = content(disk)
            command = chance.choice(
                (
                    ["convert", facts, disk / chance.choice(("o.jsonl", "o.tsv.gz", "o.parquet", "folder"))],
                    ["train", facts, *OPTIONS, "--out", disk / "run"],
                    ["export", run, disk / chance.choice(("m.npy", "m.parquet", "m.tsv", "m.pt2"))],
                    ["generate", disk / "g.jsonl", "--facts", 3000, "--entities", 100],
                )
            )
            ended = Command(*command).end()
            failure = ended.complaint or leftovers(disk)
            if failure is None and not before.items() <= content(disk).items():
                failure = "a file was changed"
            if failure is None and ended.code == 2 and "run" not in os.listdir(disk) and content(disk) != before:  # noqa: PTH208
                failure = f"half-written: {sorted(content(disk))}"
            group.count(failure and f"{command[0]} with {size} KB: {failure}")
        finally:
            subprocess.run(["umount", disk], check=True)
    return [group]


def parallel_writers(folder: Path, writers: int) -> list[Group]:
    """Let processes write to one place at once."""
    group = Group("parallel writers", "each succeeds or is told to wait, nothing is lost or twice there")
    facts, run = folder / "facts.jsonl", folder / "run"
    timed("generate", facts, "--facts", 300, "--entities", 40)
    timed("train", facts, *OPTIONS, "--set", "training.epochs=2", "--out", run)
    queries, out = folder / "queries.txt", folder / "answers.jsonl"
    queries.write_text("".join(f"entity {i:06} | relation 01 | ?\n" for i in range(1, 30)))
    predict = ("predict", run, "--facts", queries, "--on-error", "skip", "--out", out)
    for command in [Command(*predict) for _ in range(writers)]:
        group.count(_ended_well(command))
    lines = out.read_bytes().count(b"\n")
    group.count(None if lines == 29 else f"{lines} lines of 29")
    settings = [f"evaluation.ties={ties}" for ties in ("mean", "optimistic", "pessimistic")]
    for command in [Command("evaluate", run, "--set", settings[i % 3]) for i in range(writers)]:
        group.count(_ended_well(command))
    reports = len(orjson.loads((run / "model" / "metrics.json").read_bytes()))
    group.count(None if reports == len(settings) else f"{reports} reports of {len(settings)}")
    for command in [Command("convert", facts, folder / "converted.jsonl") for _ in range(writers)]:
        group.count(command.end().complaint)
    group.count(leftovers(folder) or (None if Command("verify", run).end().code == 0 else "verify fails"))
    return [group]


def _ended_well(command: Command) -> str | None:
    """None if it has succeeded, or was told that another process is writing."""
    ended = command.end()
    return ended.complaint or (None if ended.code == 0 or "in use" in ended.err else ended.err)
