"""Packed names are like a tuple of strings, in a fifth of the memory."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nary.facts import Vocabulary
from nary.facts.names import PackedMapping, PackedNames, pack, pieces

texts = st.lists(st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=4), unique=True, max_size=30)


@given(texts, texts)
@example(["\ud800", "\U00010000", "\uffff", "é", "e\u0301"], ["z"])  # half a character, and one that needs two halves
def test_packed_names_are_like_a_tuple(names: list[str], others: list[str]) -> None:
    plain, packed = tuple(names), PackedNames.of(names)
    assert packed == plain
    assert plain == packed
    assert (packed == tuple(others)) == (plain == tuple(others))
    assert hash(packed) == hash(plain)
    assert list(packed) == names
    assert [packed[i] for i in range(-len(names), len(names))] == [*names, *names]
    assert packed[1:7:2] == plain[1:7:2]
    ids = {name: i for i, name in enumerate(names)}
    assert dict(packed.ids) == ids
    assert [packed.ids.get(name) for name in (*others, "", "\0")] == [ids.get(name) for name in (*others, "", "\0")]
    assert [name in packed for name in others] == [name in plain for name in others]


@given(texts, texts)
def test_a_vocabulary_of_packed_names_is_like_any_other(names: list[str], others: list[str]) -> None:
    plain, other = Vocabulary.of(names, names[:3]), Vocabulary.of(others, others[:2])
    packed, packed_other = (
        Vocabulary(PackedNames.of(each.entities), PackedNames.of(each.relations)) for each in (plain, other)
    )
    assert packed == plain
    assert packed.fingerprint == plain.fingerprint
    assert (packed == packed_other) == (plain == other) == (packed.fingerprint == packed_other.fingerprint)
    assert packed.with_names(packed_other) == plain.with_names(other)
    grown = packed.with_names(packed_other)
    assert [grown.entity(name) for name in grown.entities] == list(range(len(grown.entities)))


def test_only_sorted_names_are_looked_up_by_bisection() -> None:
    packed = PackedNames.of(["b", "d", "a", "e"])
    assert packed.num_sorted == 2
    assert dict(packed.ids) == {"b": 0, "d": 1, "a": 2, "e": 3}
    assert PackedNames.of(["a", "b", "b"]).num_sorted == 2


def test_the_border_of_two_pieces() -> None:
    names = [f"{i:06}" for i in range(65_537)]
    assert [len(piece) for piece in pieces(names)] == [65_536, 1]
    packed = PackedNames.of(names)
    assert packed.num_sorted == len(packed) == 65_537
    assert list(packed) == names
    assert PackedNames.of([*names[:65_536], "000000"]).num_sorted == 65_536


@pytest.mark.parametrize("i", [3, -4])
def test_numbers_beyond_the_last(i: int) -> None:
    with pytest.raises(IndexError):
        PackedNames.of(["a", "b", "c"])[i]


def test_few_names_stay_strings() -> None:
    assert pack(["a", "b"]) == ("a", "b")
    assert isinstance(pack(["a", "b"]), tuple)


def test_a_name_takes_its_bytes_and_eight_more() -> None:
    names = [f"entity {i:07}" for i in range(10_000)]
    packed = PackedNames.of(names)
    assert (packed.text.nbytes + packed.offsets.nbytes) / len(names) == pytest.approx(14 + 8, abs=0.01)
    containers = sys.getsizeof(tuple(names)) + sys.getsizeof(dict.fromkeys(names))
    as_strings = containers + sum(sys.getsizeof(name) + sys.getsizeof(i) for i, name in enumerate(names))
    assert as_strings / len(names) > 5 * 22


def test_names_can_stay_in_files(tmp_path: Path) -> None:
    packed = PackedNames.of(["a", "ü", "𝄞"])
    np.save(tmp_path / "text.npy", packed.text)
    np.save(tmp_path / "offsets.npy", packed.offsets)
    text, offsets = (np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("text", "offsets"))
    assert PackedNames(text, offsets, packed.num_sorted) == ("a", "ü", "𝄞")


def test_a_packed_mapping_is_like_a_dictionary() -> None:
    texts = {"Q1": "universe", "Q2": "Earth", "Q5": ""}
    packed = PackedMapping(PackedNames.of(texts), PackedNames.of(texts.values()), str.upper)
    assert dict(packed) == {"Q1": "UNIVERSE", "Q2": "EARTH", "Q5": ""}
    assert packed.get("Q3") is None
    assert len(packed) == 3
