"""Why runs may not be compared: other data, other questions, other rules, other facts to learn from."""

from collections.abc import Iterator, Sequence

from nary.apps.comparing.reading import Compared
from nary.evaluation.metrics import GROUPS


def differences(runs: Sequence[Compared]) -> list[str]:
    """A line for each."""
    return [line for line in _differences(runs) if line]


def _differences(runs: Sequence[Compared]) -> Iterator[str]:
    data = _told_apart("Not the same data", runs, [run.data for run in runs])
    prints = [run.fingerprint[:12] if run.fingerprint else None for run in runs]
    yield data or _told_apart("Other facts under the same name, by their fingerprint", runs, prints)
    for key in runs[0].protocol.as_dict():
        yield _told_apart(f"Other rules, {key}", runs, [_text(run.protocol.as_dict()[key]) for run in runs])
    for group in GROUPS if len({run.dataset for run in runs}) == 1 else ():  # of other data, this goes without saying
        yield _told_apart(f"Not the same queries, {group}", runs, [_text(run.figure(group, "count")) for run in runs])
    yield _told_apart("Learned from", runs, [_text(run.train_on) for run in runs])


def _told_apart(what: str, runs: Sequence[Compared], values: Sequence[str | None]) -> str:
    """Which runs have which of ``values``, if there are two or more; a run whose value is not known has none."""
    having: dict[str, list[str]] = {}
    for run, value in zip(runs, values, strict=True):
        if value is not None:
            having.setdefault(value, []).append(run.run)
    parts = [f"{value} ({', '.join(own)})" for value, own in having.items()]
    return f"{what}: {'; '.join(parts)}." if len(parts) > 1 else ""


def _text(value: object) -> str | None:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "all"
    return f"{value:,}" if isinstance(value, int) else None if value is None else str(value)
