"""Room for scores."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from nary.models.layers import empty_aligned


@given(st.integers(1, 5), st.integers(1, 100))
def test_rows_start_at_lines_of_the_cache_and_do_not_overlap(queries: int, candidates: int) -> None:
    room = empty_aligned(torch.zeros(queries, 2), candidates)
    assert room.shape == (queries, candidates)
    step, one = room.stride()
    assert one == 1
    assert candidates <= step < candidates + 16
    assert step * room.element_size() % 64 == 0


def test_it_has_the_type_of_the_queries() -> None:
    assert empty_aligned(torch.zeros(1, 2, dtype=torch.bfloat16), 3).dtype == torch.bfloat16
