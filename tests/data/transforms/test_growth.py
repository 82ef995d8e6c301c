"""Facts are added under ids that keep all old ones as they are."""

from hypothesis import given
from hypothesis import strategies as st
from runs.small import dataset_of

from nary.data.dataset import Dataset
from nary.data.transforms.growth import add_facts
from nary.facts import Fact, Vocabulary

_NAMES = st.sampled_from(["a", "b", "c", "d", "é"])
_RELATIONS = st.sampled_from(["p", "q", "r"])
_FACTS = st.lists(
    st.builds(Fact, _NAMES, _RELATIONS, _NAMES, st.lists(st.tuples(_RELATIONS, _NAMES), max_size=3, unique=True)),
    max_size=8,
)


def facts_of(dataset: Dataset, split: str) -> list[Fact]:
    return list(dataset[split].facts(dataset.vocabulary))


def test_new_names_come_last_and_known_facts_are_not_added_again() -> None:
    old = dataset_of(train=[Fact("m", "r", "z", [("s", "b")])], test=[Fact("m", "r", "b")])
    more = dataset_of(
        train=[Fact("m", "r", "b"), Fact("a", "r", "z", [("t", "a"), ("s", "m")])], valid=[Fact("m", "r", "n")]
    )
    grown = add_facts(old, more)
    assert grown.dataset.vocabulary == Vocabulary(("b", "m", "z", "a", "n"), ("r", "s", "t"))
    assert grown.stored == 1
    assert facts_of(grown.dataset, "train") == [
        Fact("m", "r", "z", [("s", "b")]),
        Fact("a", "r", "z", [("s", "m"), ("t", "a")]),
        Fact("m", "r", "n"),
    ]
    assert facts_of(grown.dataset, "test") == facts_of(old, "test")


def test_labels_and_types_of_known_names_are_kept() -> None:
    old = Vocabulary(("a",), ("r",), {"a": "Ada"}, {"a": ("Person",)})
    new = Vocabulary(("a", "b"), ("r",), {"a": "other", "b": "Bob"}, {"a": ("Robot",), "b": ("Person",)})
    both = old.with_names(new)
    assert both.labels == {"a": "Ada", "b": "Bob"}
    assert both.types == {"a": ("Person",), "b": ("Person",)}


@given(_FACTS.filter(bool), _FACTS)
def test_all_facts_are_there_once_more_and_old_ids_stay(old: list[Fact], new: list[Fact]) -> None:
    before = dataset_of(train=old)
    grown = add_facts(before, dataset_of(train=new))
    after = grown.dataset
    assert facts_of(after, "train") == [*old, *(fact for fact in dict.fromkeys(new) if fact not in old)]
    assert after.vocabulary.entities[: len(before.vocabulary.entities)] == before.vocabulary.entities
    assert len(grown.added) + grown.stored == len(new)
    again = add_facts(after, dataset_of(train=new))
    assert len(again.added) == 0
    assert again.dataset.fingerprint == after.fingerprint
