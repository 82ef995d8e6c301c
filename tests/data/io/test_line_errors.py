"""Lines that are not facts: what each format says about them."""

import pytest

from nary.data.io.formats import FORMATS
from nary.data.io.lines import LineError

JSON = '{"subject": "s", "relation": "r", "object": "o", '
CASES = [
    ("jsonl", "not json", "bad JSON", "not JSON: Expecting value at character 1"),
    ("jsonl", "7", "bad JSON", "expected a JSON object, not a number"),
    ("jsonl", "[]", "bad JSON", "not a list"),
    ("jsonl", "null", "bad JSON", "not null"),
    ("jsonl", "true", "bad JSON", "not true or false"),
    ("jsonl", '"s"', "bad JSON", "not a string"),
    ("jsonl", "{}", "missing key", "no 'subject'"),
    ("jsonl", '{"subject": "s", "relation": "r"}', "missing key", "no 'object'"),
    ("jsonl", JSON + '"objct": "x"}', "unknown key", "unknown key 'objct'"),
    ("jsonl", JSON + '"object": "x"}', "duplicate key", "'object' occurs twice"),
    ("jsonl", JSON + '"qualifiers": [[{"a": 1, "a": 2}, "v"]]}', "duplicate key", "'a' occurs twice"),
    ("jsonl", JSON + '"qualifiers": {"a": "v"}}', "wrong type", "'qualifiers' is an object, not a list of pairs"),
    ("jsonl", JSON + '"qualifiers": null}', "wrong type", "'qualifiers' is null"),
    ("jsonl", JSON + '"qualifiers": [["a", "v"], ["a", "v", "w"]]}', "wrong type", "qualifier 2 is not"),
    ("jsonl", JSON + '"qualifiers": ["av"]}', "wrong type", "qualifier 1 is not an [attribute, value] pair"),
    ("jsonl", JSON + '"qualifiers": [["a", true]]}', "bad label", "value 1: a label is a string, not bool True"),
    ("jsonl", JSON + '"qualifiers": [[7, "v"]]}', "bad label", "attribute 1: a label is a string, not int 7"),
    ("jsonl", JSON + '"qualifiers": [["a", NaN]]}', "bad literal", "value 1: nan is not a number"),
    ("jsonl", JSON + '"qualifiers": [["a", {"value": 5, "type": "date"}]]}', "bad literal", "value 1: the value of a"),
    ("jsonl", JSON + '"qualifiers": [["", "v"]]}', "empty label", "attribute 1: a label is empty"),
    ("jsonl", '{"subject": 1, "relation": "r", "object": "o"}', "bad label", "the subject: a label is a string"),
    ("jsonl", '{"subject": "s", "relation": "?", "object": "o"}', "gap in data", "the relation is ?, which"),
    ("jsonl", '{"subject": "\\u0000", "relation": "r", "object": "o"}', "bad label", "NUL"),
    ("jsonl", '{"subject": "s\\ud83d", "relation": "r", "object": "o"}', "bad label", "half a surrogate pair"),
    ("jsonl", JSON + '"split": "dev"}', "unknown split", "unknown split 'dev'"),
    ("jsonl", JSON + '"split": ["train"]}', "unknown split", "unknown split ['train']"),
    ("jsonl", '{"subject": ' + "9" * 5000 + "}", "bad JSON", "a number with too many digits"),
    ("jsonl", '{"subject": ' + "[" * 100_000, "bad JSON", "nested too deeply"),
    ("hyper-relational", "s", "too few fields", "1 of at least three fields (subject, relation, object), separated"),
    ("hyper-relational", "s", "too few fields", "separated by tabs"),
    ("hyper-relational", "s\tr", "too few fields", "2 of at least three fields"),
    ("hyper-relational", "s,r", "too few fields", "separated by commas"),
    ("hyper-relational", "s\tr\to\ta", "odd qualifier fields", "an odd number of qualifier fields (1)"),
    ("hyper-relational", "s\tr\t", "empty label", "the object: a label is empty"),
    ("hyper-relational", "s\tr\to\t?\tv", "gap in data", "attribute 1 is ?"),
    ("hyper-relational", 's\tr\t"o', "bad quotes", "unexpected end of data"),
    ("hyper-relational", '"s"x\tr\to', "bad quotes", "expected after"),
    ("hyper-relational", '""\tr\to', "empty label", "the subject: a label is empty"),
    ("tuples", "r\ts", "too few fields", "2 of at least 3 fields (relation, two entities), separated by tabs"),
    ("tuples", "r s", "too few fields", "separated by spaces"),
    ("tuples", "r  s o", "empty label", "the subject: a label is empty"),
    ("numbered-tuples", "i\tr\ts", "too few fields", "3 of at least 4 fields (instance, relation, two entities)"),
    ("wikipeople", '{"P1_t": "o", "N": 2}', "no primary triple", "found ['P1_t']"),
    ("wikipeople", '{"P1_h": "s", "P2_t": "o", "N": 2}', "no primary triple", "of the same P, found ['P1_h', 'P2_t']"),
    ("wikipeople", '{"P1_h": "s", "P2_h": "s", "P1_t": "o"}', "no primary triple", "expected one role P_h"),
    ("wikipeople", '{"P1_h": "s", "P1_t": "o", "N": 3}', "wrong arity", "N is 3, but the fact has arity 2"),
    ("wikipeople", '{"P1_h": "s", "P1_t": "o", "N": "2"}', "wrong arity", "N is '2', but the fact has arity 2"),
    ("wikipeople", '{"P1_h": "s", "P1_t": "o", "P2": "v"}', "wrong type", "the values of 'P2' are not a list"),
    ("wikipeople", '{"P1_h": ["s"], "P1_t": "o"}', "bad label", "the subject: a label is a string, not list"),
    ("wikipeople", '{"_h": "s", "_t": "o"}', "empty label", "the relation: a label is empty"),
    ("gran", '{"N": 2, "relation": "r", "subject": "s"}', "missing key", "no 'object'"),
    ("gran", '{"N": 2, "relation": "r", "subject": "s", "object": "o", "a": ["v"]}', "wrong arity", "has arity 3"),
    ("gran", '{"N": 3, "relation": "r", "subject": "s", "object": "o", "a": "v"}', "wrong type", "'a' are not a list"),
    ("wikipeople-roles", "P1_h/P1_t\ts", "roles and values differ", "2 roles but 1 values"),
    ("wikipeople-roles", "P1_h/P1\ts\to", "no primary triple", "found ['P1_h']"),
    ("wikipeople-roles", "P1_h/P1_t/P2\ts\to\t?", "gap in data", "value 1 is ?"),
]  # fmt: skip


@pytest.mark.parametrize(("format", "line", "reason", "words"), CASES, ids=[f"{c[0]}: {c[3][:40]}" for c in CASES])
def test_what_is_said(format: str, line: str, reason: str, words: str) -> None:
    reader = FORMATS.get(format)()
    reader.start(line, "")
    with pytest.raises(LineError) as error:
        reader.parse(line)
    assert error.value.reason == reason
    assert words in error.value.message


def test_hints_name_the_other_format() -> None:
    for format, line, other in (("hyper-relational", "a\tb\tc\td", "tuples"), ("tuples", "a\tb", "hyper-relational")):
        with pytest.raises(LineError) as error:
            FORMATS.get(format)().parse(line)
        assert error.value.hint is not None
        assert f"--format {other}" in error.value.hint


def test_a_misspelled_key_gets_the_nearest() -> None:
    with pytest.raises(LineError) as error:
        FORMATS.get("jsonl")().parse(JSON + '"qualifers": []}')
    assert error.value.hint == "Did you mean qualifiers?"
