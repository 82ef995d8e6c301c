"""Sums of clipped features: what they are, with a compiler and without."""

import pytest
import torch
from torch import Tensor

from nary.models.pairs import sums

QUERIES, CANDIDATES, FEATURES = 3, 50, 40


def tables(seed: int) -> tuple[Tensor, ...]:
    """Weights, shifts, ceilings, x and y; ceilings of both signs."""
    draw = torch.Generator().manual_seed(seed)
    shapes = ((FEATURES,), *2 * [(QUERIES, FEATURES)], *2 * [(CANDIDATES, FEATURES)])
    return tuple(torch.randn(shape, generator=draw) for shape in shapes)


@pytest.fixture(params=["by query", "at once"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways, a few candidates at a time; the last block has but one."""
    monkeypatch.setattr(sums, "_BLOCK", 7 * FEATURES)
    if request.param == "at once":
        if not sums._compiles():
            pytest.skip("torch finds no compiler here")
        monkeypatch.setattr(sums, "_WORTH_COMPILING", 0)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("below", ["nothing", "ceilings", "ceilings and y"])
@pytest.mark.parametrize("queries", [1, QUERIES])
def test_as_written_down(below: str, queries: int) -> None:
    weight, shifts, ceilings, x, y = tables(0)
    shifts, ceilings = shifts[:queries], ceilings[:queries]
    features = x + shifts[:, None]
    if below == "ceilings":
        features = torch.minimum(features, ceilings[:, None])
    elif below == "ceilings and y":
        features = torch.minimum(features, y + ceilings[:, None])
    scores = torch.full((queries, CANDIDATES), 5.0)
    sums.add_clipped_sums(
        scores,
        weight,
        shifts,
        None if below == "nothing" else ceilings,
        lambda block: (x[block], y[block] if below == "ceilings and y" else None),
    )
    torch.testing.assert_close(scores, 5 + features.relu() @ weight, rtol=1e-4, atol=1e-4)


def test_without_a_compiler_it_still_works(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Tensor) -> Tensor:
        raise RuntimeError("no compiler")

    monkeypatch.setattr(sums, "_compiled", lambda plain: broken)
    monkeypatch.setattr(sums, "_WORTH_COMPILING", 0)
    sums._compiles.cache_clear()
    weight, shifts, _, x, _ = tables(1)
    scores = torch.zeros(QUERIES, CANDIDATES)
    try:
        sums.add_clipped_sums(scores, weight, shifts, None, lambda block: (x[block], None))
    finally:
        sums._compiles.cache_clear()
    torch.testing.assert_close(scores, (x + shifts[:, None]).relu() @ weight, rtol=1e-4, atol=1e-4)
