"""Searches: which settings tuning tries, and in which order."""

import random
from collections.abc import Generator, Iterator, Sequence
from itertools import islice
from typing import Any

from nary.errors import MissingExtraError, SettingError
from nary.runs.space import Range, Space, Values, combinations, one_at_a_time

Search = Generator[Values, float, None]
"""Yields settings to try and is sent the score they reached; larger is better."""
SEARCHES = ("grid", "each", "random", "tpe")
DEFAULT_TRIALS = 10
"""The number of trials of random and TPE searches."""
_ATTEMPTS = 20  # proposals per trial, because a sampler may repeat itself


def new_search(kind: str, space: Space, trials: int | None, seed: int) -> Search:
    """The search called ``kind``, one of ``SEARCHES``; equal seeds and scores give equal proposals."""
    if kind not in SEARCHES:
        raise SettingError(f"unknown search: --search {kind}", f"Expected {', '.join(SEARCHES)}.")
    ranges = [key for key, choice in space.items() if isinstance(choice, Range)]
    if kind in ("grid", "each"):
        if ranges:
            raise SettingError(
                f"--search {kind} cannot try all of the range of {ranges[0]}", "Add --search random or --search tpe."
            )
        if trials is not None:
            raise SettingError(f"--trials with {kind}, which tries everything", "Add --search random or --search tpe.")
        return _listed(combinations(space) if kind == "grid" else one_at_a_time(space))
    if trials is not None and trials < 1:
        raise SettingError(f"--trials {trials}", "Expected 1 or more.")
    number = trials or DEFAULT_TRIALS
    if not ranges:
        number = min(number, len(combinations(space)))
    if kind == "tpe":
        return _tpe(space, number, seed)
    generator = random.Random(seed)
    if ranges:
        return _listed(list(islice(_distinct(_draws(space, generator, _ATTEMPTS * number)), number)))
    return _listed(generator.sample(combinations(space), number))


def _listed(proposals: Sequence[Values]) -> Search:
    for values in proposals:  # noqa: UP028 (a list cannot be sent scores)
        yield values


def _draws(space: Space, generator: random.Random, number: int) -> Iterator[Values]:
    for _ in range(number):
        yield {
            key: choice.draw(generator) if isinstance(choice, Range) else generator.choice(choice)
            for key, choice in space.items()
        }


def _distinct(proposals: Iterator[Values]) -> Iterator[Values]:
    seen: list[Values] = []
    for values in proposals:
        if values not in seen:
            seen.append(values)
            yield values


def _tpe(space: Space, trials: int, seed: int) -> Search:
    """A tree-structured Parzen estimator; repeated proposals get the score they had before."""
    optuna = import_optuna("Searching with tpe")
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    scores: list[tuple[Values, float]] = []
    for _ in range(_ATTEMPTS * trials):
        proposal = study.ask()
        values = {key: _suggestion(proposal, key, choice) for key, choice in space.items()}
        score = next((score for earlier, score in scores if earlier == values), None)
        if score is None:
            score = yield values
            scores.append((values, score))
        study.tell(proposal, score)
        if len(scores) == trials:
            return


def _suggestion(proposal: Any, key: str, choice: Sequence[Any] | Range) -> Any:
    if isinstance(choice, Range):
        suggest = proposal.suggest_int if choice.whole else proposal.suggest_float
        return choice.rounded(suggest(key, choice.low, choice.high, log=choice.log))
    return choice[proposal.suggest_categorical(key, range(len(choice)))]  # by index: values may be of any type


def import_optuna(purpose: str) -> Any:
    """The module; an error that says what to install if it is missing."""
    try:
        import optuna  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise MissingExtraError(purpose, "tune") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna
