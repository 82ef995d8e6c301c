"""Hints that name what is nearest."""

from nary.errors import did_you_mean


def test_nearest_of_very_many_names() -> None:
    known = [f"name {i}" for i in range(20_000)] + ["Marie Curie"]
    assert did_you_mean("marie Curie", known) == "Did you mean Marie Curie?"
    assert did_you_mean("Zzz", known) == "20001 names are known; none is close."
