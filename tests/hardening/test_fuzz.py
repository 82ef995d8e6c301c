"""Whatever is read is facts or an error for people: one-line facts, files of facts in every format, and Parquet."""

import random
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nary.data.io.reader import read
from nary.data.io.writer import write
from nary.data.synthetic import generate
from nary.errors import NaryError
from nary.facts import parse, parse_fact, parse_query
from nary.facts.json import KEYS, load_object, statement_from_json

TEXT = st.text(st.sampled_from("|:?\"'\\ \t\n\x1b{}[],^aé1.-\u2028\ud800"), max_size=40)


@given(TEXT | st.text(max_size=40))
@settings(max_examples=300)
def test_any_text_is_a_fact_or_an_error(text: str) -> None:
    for read_text in (parse, parse_fact, parse_query):
        with suppress(NaryError):
            statement = read_text(text)
            assert parse(str(statement)) == statement


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | TEXT, inner, max_size=5),
        max_leaves=12,
    )
)
@settings(max_examples=200)
def test_any_json_is_a_fact_or_an_error(content: object) -> None:
    if isinstance(content, dict):
        with suppress(NaryError):
            statement_from_json(content)


@given(TEXT)
def test_any_text_is_a_json_object_or_an_error(text: str) -> None:
    with suppress(NaryError):
        assert isinstance(load_object(text), dict)


@pytest.mark.parametrize("name", ["f.jsonl", "f.tsv", "f.csv", "f.parquet", "f.jsonl.gz", "f.tsv.bz2", "f.tsv.zst"])
@given(seed=st.integers(0, 1 << 32), count=st.integers(1, 4), cut=st.booleans())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_mutated_files_are_facts_or_an_error(tmp_path: Path, name: str, seed: int, count: int, cut: bool) -> None:
    source, target = tmp_path / name, tmp_path / f"mutated-{name}"
    if not source.exists():
        write(generate(facts=20, entities=10, relations=3, max_arity=4), source)
    chance = random.Random(seed)
    content = bytearray(source.read_bytes())
    for _ in range(count):
        content[chance.randrange(len(content))] = chance.randrange(256)
    target.write_bytes(content[: chance.randrange(len(content))] if cut else content)
    with suppress(NaryError):
        dataset = read(target, on_error="skip")
        assert all(fact.arity >= 2 for fact in dataset.facts.facts(dataset.vocabulary))
