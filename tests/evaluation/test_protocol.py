"""The protocol as a table of settings and as a line of text."""

import subprocess
import sys

import pytest

from nary.config import validate_settings
from nary.errors import SettingError
from nary.evaluation.protocol import Protocol


def test_the_defaults_are_the_published_rules_with_fair_ties() -> None:
    assert Protocol().as_dict() == {
        "filter": "slots",
        "filter_splits": ["train", "valid", "test"],
        "ties": "mean",
        "candidates": "all",
        "positions": [],
    }


def test_one_line_for_under_a_table() -> None:
    assert Protocol().describe() == (
        "Protocol: filter slots (train, valid, test); ties mean; candidates all; positions all."
    )
    other = Protocol(filter="none", ties="pessimistic", candidates="seen", positions=["subject", "value"])
    assert other.describe() == ("Protocol: filter none; ties pessimistic; candidates seen; positions subject, value.")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"filters": "slots"}, "unknown key evaluation.filters"),
        ({"filter": "slot"}, "evaluation.filter is 'slot'"),
        ({"positions": ["subject", "verb"]}, "evaluation.positions.1 is 'verb'"),
        ({"filter_splits": ["dev"]}, "evaluation.filter_splits.0 is 'dev'"),
        ({"memory": 0}, "evaluation.memory is 0"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, object], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        validate_settings(Protocol, settings, "evaluation")


def test_protocols_share_nothing() -> None:
    Protocol().filter_splits.clear()
    assert Protocol().filter_splits == ["train", "valid", "test"]


def test_settings_need_no_torch() -> None:
    code = "import sys, nary.evaluation.protocol; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
