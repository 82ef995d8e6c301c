"""Building blocks: dropout from random bytes, aligned scores, look-ups and hashes."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from nary.models.layers import Dropout, embed_ids, empty_aligned, hash_rows


def test_it_drops_at_its_rate_and_keeps_the_mean() -> None:
    torch.manual_seed(0)
    ones = torch.ones(400_000)
    dropped = Dropout(0.3)(ones)
    assert abs(float((dropped == 0).float().mean()) - 77 / 256) < 0.003  # 0.3 is rounded to 77 of 256
    assert set(dropped.unique().tolist()) == {0.0, float(torch.tensor(256 / 179))}
    assert abs(float(dropped.mean()) - 1) < 0.005


def test_every_byte_of_a_random_word_is_fair() -> None:
    torch.manual_seed(0)
    kept = (Dropout(0.5)(torch.ones(80_000)) > 0).float().view(-1, 8)
    assert (kept.mean(0) - 0.5).abs().max() < 0.02


def test_gradients_flow_through_what_is_kept() -> None:
    x = torch.randn(5, 7, requires_grad=True)
    out = Dropout(0.5)(x)
    out.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad == 0, out == 0)


def test_it_does_nothing_outside_training_or_at_rate_zero() -> None:
    x = torch.randn(11)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0)(x) is x


def test_equal_seeds_drop_equally() -> None:
    x = torch.randn(1000)
    first = torch.manual_seed(3) and Dropout(0.2)(x)
    assert torch.equal(first, torch.manual_seed(3) and Dropout(0.2)(x))


@given(st.integers(1, 5), st.integers(1, 100))
def test_rows_start_at_lines_of_the_cache_and_do_not_overlap(queries: int, candidates: int) -> None:
    room = empty_aligned(torch.zeros(queries, 2), candidates)
    assert room.shape == (queries, candidates)
    step, one = room.stride()
    assert one == 1
    assert candidates <= step < candidates + 16
    assert step * room.element_size() % 64 == 0


def test_there_are_zeros_between_rows_of_scores() -> None:
    # Products of bfloat16 with AMX instructions read them, and multiply them by 0.
    torch.use_deterministic_algorithms(True)  # fills new memory with NaN
    try:
        room = empty_aligned(torch.zeros(4, 2, dtype=torch.bfloat16), 37)
    finally:
        torch.use_deterministic_algorithms(False)
    assert not room.as_strided((4, room.stride(0)), room.stride())[:, 37:].any()


def test_it_has_the_type_of_the_queries() -> None:
    assert empty_aligned(torch.zeros(1, 2, dtype=torch.bfloat16), 3).dtype == torch.bfloat16


def test_look_ups_are_rows_of_the_table() -> None:
    table = torch.arange(12.0).view(4, 3)
    ids = [torch.tensor([[3, 0], [1, 1]]), torch.tensor([2]), torch.zeros(2, 0, dtype=torch.int64)]
    for rows, asked in zip(embed_ids(table, ids), ids, strict=True):
        assert torch.equal(rows, table[asked])


def test_rows_have_hashes_of_their_own() -> None:
    rows = torch.cartesian_prod(*(torch.arange(9) for _ in range(4)))
    assert len(hash_rows(rows).unique()) == len(rows)
    shorter = rows[:, :3]
    assert torch.equal(hash_rows(shorter), hash_rows(torch.nn.functional.pad(shorter, (0, 1))))
