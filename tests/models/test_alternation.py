"""Training in turns: which epoch does what."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from nary.models.alternation import Alternation, Phase


def phase_of(epochs: int) -> Phase:
    return Phase(epochs, lambda batch: torch.zeros(()), (), 0.1)


def test_rounds_follow_each_other() -> None:
    first, second = phase_of(2), phase_of(1)
    alternation = Alternation(3, (first, second))
    a_round = [None, None, None, first, first, second]
    assert [alternation.at(epoch) for epoch in range(14)] == [*a_round, *a_round, None, None]


@given(st.integers(1, 5), st.lists(st.integers(0, 4), max_size=4), st.integers(0, 100))
def test_a_round_has_every_phase_for_its_epochs(epochs: int, lengths: list[int], start: int) -> None:
    phases = [phase_of(length) for length in lengths]
    alternation = Alternation(epochs, phases)
    one = [alternation.at(epoch) for epoch in range(start, start + epochs + sum(lengths))]
    assert one.count(None) == epochs
    assert [one.count(phase) for phase in phases] == lengths
