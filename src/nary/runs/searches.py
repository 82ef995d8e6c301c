"""Ways through a space of settings: generators that propose settings and are sent what came of them."""

import random
from collections.abc import Generator, Mapping, Sequence
from itertools import product
from typing import Any

from nary.errors import MissingExtraError, SettingError

Space = Mapping[str, Sequence[Any]]
"""The values to try for each key of a recipe, such as ``model.dropout``."""
Values = dict[str, Any]
Search = Generator[Values, float, None]
"""Proposes values and is sent the score they reached; larger is better."""
KINDS = ("grid", "each", "random", "tpe")
TRIALS = 10
"""Of a search that does not try everything, if nobody said how many."""
_ASKED_AGAIN = 20  # proposals for each trial: the sampler may come back to what it has seen


def combinations(space: Space) -> list[Values]:
    """All settings of ``space``; the last key changes first."""
    return [dict(zip(space, values, strict=True)) for values in product(*space.values())]


def one_at_a_time(space: Space) -> list[Values]:
    """No value of ``space``, then every value alone."""
    return [{}, *({key: value} for key, values in space.items() for value in values)]


def search(kind: str, space: Space, trials: int | None, seed: int) -> Search:
    """The search called ``kind``; equal seeds and equal scores give equal proposals."""
    if kind not in KINDS:
        raise SettingError(f"--search {kind}", f"Expected {', '.join(KINDS)}.")
    if kind in ("grid", "each"):
        if trials is not None:
            raise SettingError(f"--trials with {kind}, which tries everything", "Add --search random or --search tpe.")
        return _all(combinations(space) if kind == "grid" else one_at_a_time(space))
    if trials is not None and trials < 1:
        raise SettingError(f"--trials {trials}", "Expected 1 or more.")
    wished = min(trials or TRIALS, len(combinations(space)))
    if kind == "random":
        return _all(random.Random(seed).sample(combinations(space), wished))
    return _tpe(space, wished, seed)


def _all(proposals: Sequence[Values]) -> Search:
    for values in proposals:  # noqa: UP028 (a list cannot be sent scores)
        yield values


def _tpe(space: Space, trials: int, seed: int) -> Search:
    """A tree-structured Parzen estimator. What it proposes twice is sent the score it is known to have."""
    try:
        import optuna  # type: ignore[import-not-found, unused-ignore]  # it comes with an extra
    except ImportError:
        raise MissingExtraError("Searching with tpe", "tune") from None

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    known: dict[tuple[int, ...], float] = {}
    for _ in range(_ASKED_AGAIN * trials):
        asked = study.ask()
        # by number, because values may be of any type
        chosen = tuple(asked.suggest_categorical(key, range(len(values))) for key, values in space.items())
        if chosen not in known:
            known[chosen] = yield {key: space[key][number] for key, number in zip(space, chosen, strict=True)}
        study.tell(asked, known[chosen])
        if len(known) == trials:
            return
