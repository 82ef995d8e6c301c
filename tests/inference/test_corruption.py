"""Corrupted facts differ in one element and are not stored; shortened ones are contained."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from inference.memory import remembering
from runs.small import dataset_of, small_data

from nary.facts import Fact
from nary.facts.containment import Pattern
from nary.facts.table import decode_fact
from nary.inference.corruption import Corruption, rows_of_table, shorten, table_of_rows

DATA = small_data()
CONTEXT = remembering(DATA).context
ROWS = rows_of_table(DATA.facts)


def test_rows_and_tables() -> None:
    assert table_of_rows(ROWS) == DATA.facts
    assert [decode_fact(row, DATA.vocabulary) for row in ROWS] == list(DATA.facts.facts(DATA.vocabulary))


@given(st.sampled_from(ROWS), st.booleans(), st.integers(0, 1000))
def test_one_element_is_replaced_by_one_that_makes_no_stored_fact(row: list[int], same_slot: bool, seed: int) -> None:
    changed = Corruption(CONTEXT).corrupt(row, same_slot, np.random.default_rng(seed))
    assert changed is not None
    assert changed == Corruption(CONTEXT).corrupt(row, same_slot, np.random.default_rng(seed))
    assert not CONTEXT.lookup.index.count(Pattern.of_row(changed))
    before, after = (decode_fact(one, DATA.vocabulary) for one in (row, changed))
    new_pairs = [pair for pair in after.qualifiers if pair not in before.qualifiers]
    primary = sum(a != b for a, b in zip(before.primary, after.primary, strict=True))
    assert primary + len(new_pairs) <= 1


@given(st.sampled_from(rows_of_table(DATA.train)), st.integers(0, 1000))
def test_in_the_same_slot_the_other_element_was_seen_there(row: list[int], seed: int) -> None:
    changed = Corruption(CONTEXT).corrupt(row, True, np.random.default_rng(seed))
    assert changed is not None
    (block,) = table_of_rows([row]).blocks
    slots = CONTEXT.slots.of(block.ids)[0].tolist()
    seen = [set(CONTEXT.slots.members(slot)[0].tolist()) for slot in slots]
    new = set(changed) - set(row)  # the element, unless the fact has it elsewhere
    assert all(any(one in members for members in seen) for one in new)


def test_a_fact_that_cannot_be_corrupted() -> None:
    lonely = dataset_of(train=[Fact("Ada", "is", "Ada")])
    corruption = Corruption(remembering(lonely).context)
    assert corruption.corrupt(rows_of_table(lonely.train)[0], True, np.random.default_rng(0)) is None


@given(st.sampled_from(ROWS), st.integers(0, 1000))
def test_a_shortened_fact_is_contained(row: list[int], seed: int) -> None:
    short = shorten(row, np.random.default_rng(seed))
    before, after = (decode_fact(one, DATA.vocabulary) for one in (row, short))
    assert before.primary == after.primary
    assert set(after.qualifiers) <= set(before.qualifiers)


def test_any_number_of_qualifiers_is_left() -> None:
    row = next(row for row in ROWS if len(row) == 7)
    lengths = {len(shorten(row, np.random.default_rng(seed))) for seed in range(50)}
    assert lengths == {3, 5, 7}
