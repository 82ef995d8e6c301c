"""Try to break what Nary promises: kills, mutated files and folders, hostile clients, full disks, parallel writers.

    python benchmarks/torture [--scale 1.0] [--seed 0] [--only kills] [--write]

``--scale 1`` takes ten minutes on two idle cores: 100 kills of each kind of work, 2,000 files of each format, 500
folders, 20,000 requests with 600 slow clients, 20 parallel writers. ``--write`` puts the table into
docs/reliability.md. Exit code 1 if a promise was broken. Everything stays on this machine and in a temporary folder.
"""

import argparse
import random
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from torture.common import Group
from torture.kills import random_kills
from torture.mutations import mutated_files, mutated_folders
from torture.places import full_disks, parallel_writers
from torture.serving import served_requests

from nary.reproduction.records import hardware
from nary.tables import Table, left, right
from nary.version import __version__

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- torture: begin -->\n", "<!-- torture: end -->"
GROUPS = ("kills", "files", "folders", "requests", "disks", "writers")


def main() -> None:
    """Run the groups and print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--scale", type=float, default=1.0, help="a factor of the number of cases")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", choices=GROUPS, action="append", help="some groups only")
    options.add_argument("--write", action="store_true", help="put the table into docs/reliability.md")
    chosen = options.parse_args()
    started = time.monotonic()
    groups: list[Group] = []
    for name in chosen.only or GROUPS:
        print(f"{name} ...", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            groups += run_group(name, Path(folder), chosen.scale, random.Random(f"{chosen.seed} {name}"))
    rows = [[g.name, g.promise, f"{g.tried:,}", f"{g.tried - len(g.failures):,}", g.note] for g in groups]
    table = Table([*left("cases", "promise"), *right("tried", "held"), *left("note")], rows)
    print(table.text())
    said = (
        f"`make torture SCALE={chosen.scale:g}`, seed {chosen.seed}, {time.monotonic() - started:,.0f} seconds, "
        f"{datetime.now(UTC):%Y-%m-%d}, Nary {__version__}, {hardware()}"
    )
    print(said)
    if chosen.write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}{said}:\n\n{table.markdown()}\n{END}{rest.partition(END)[2]}")
    sys.exit(1 if any(group.failures for group in groups) else 0)


def run_group(name: str, folder: Path, scale: float, chance: random.Random) -> list[Group]:
    """The cases of a group, as many as ``scale`` says."""

    def times(number: int) -> int:
        return max(1, round(number * scale))

    if name == "kills":
        return random_kills(folder, times(100), chance)
    if name == "files":
        return mutated_files(folder, times(2000), chance)
    if name == "folders":
        return mutated_folders(folder, times(500), chance)
    if name == "requests":
        return served_requests(folder, times(20_000), times(600), chance)
    if name == "disks":
        return full_disks(folder, times(100), chance)
    return parallel_writers(folder, max(4, times(20)))


if __name__ == "__main__":
    main()
