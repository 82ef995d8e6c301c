"""The shares of a batch, and the order of targets by worker."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from runs.small import small_data

from nary.training.batches import TrainingBatches
from nary.training.distributed.shares import order_by_worker, share_of
from nary.training.distributed.tables import cut_rows
from nary.training.losses import split_targets
from nary.training.settings import TrainingSettings
from nary.workers import Workers

TABLE = small_data().train


@given(step=st.integers(0, 20), size=st.integers(1, 5), dropout=st.booleans())
def test_shares_make_up_the_batch(step: int, size: int, dropout: bool) -> None:
    settings = TrainingSettings(
        batch_size=9, shuffle="instances", merge_queries=True, qualifier_dropout=0.5 if dropout else 0.0
    )
    whole = TrainingBatches(TABLE, settings).batch_at(step)
    shares = [share_of(whole, Workers(rank, size)) for rank in range(size)]
    rows = [group.ids[i].tolist() for group in whole.batch.groups for i in range(len(group.ids))]
    targets = sorted(zip(whole.rows.tolist(), whole.targets.tolist(), strict=True))
    seen, seen_targets = {}, []
    for rank, share in enumerate(shares):
        own = [group.ids[i].tolist() for group in share.batch.groups for i in range(len(group.ids))]
        seen |= {rank + size * place: row for place, row in enumerate(own)}
        places = (rank + size * share.rows).tolist()
        seen_targets += zip(places, share.targets.tolist(), strict=True)
    assert [seen[place] for place in range(len(rows))] == rows
    assert sorted(seen_targets) == targets


@given(step=st.integers(0, 20), size=st.integers(1, 5))
def test_targets_ordered_by_worker_are_those_of_the_shares(step: int, size: int) -> None:
    whole = TrainingBatches(TABLE, TrainingSettings(batch_size=9)).batch_at(step)
    expected, counts = [], [0] * size
    for rank in range(size):
        share = share_of(whole, Workers(rank, size))
        for kind, chosen, targets in split_targets(share, share.weights):
            if kind == "entity":
                pairs = zip(targets.rows.tolist(), targets.candidates.tolist(), strict=True)
                expected += [(sum(counts) + row, name) for row, name in pairs]
                counts[rank] = int(chosen.sum())
    for kind, chosen, targets in split_targets(whole, whole.weights):
        if kind == "entity":
            ordered, sizes = order_by_worker(targets, chosen, size)
            assert sizes == counts
            assert list(zip(ordered.rows.tolist(), ordered.candidates.tolist(), strict=True)) == sorted(expected)


def test_rows_of_a_table_with_rows_of_no_entity() -> None:
    table = torch.tensor([100, 101, 0, 1, 2, 3, 4, 200])
    assert cut_rows(table, 2, 5, Workers(0, 2)).tolist() == [100, 101, 0, 2, 4, 200]
    assert cut_rows(table, 2, 5, Workers(1, 2)).tolist() == [100, 101, 1, 3, 200]
    assert [Workers(rank, 3).num_taken(5) for rank in range(3)] == [2, 2, 1]
