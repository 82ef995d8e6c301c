"""Messages count in the singular and in the plural."""

from nary.wording import counted


def test_one_thing_is_singular() -> None:
    assert counted(1, "fact") == "1 fact"
    assert counted(0, "fact") == "0 facts"
    assert counted(2000, "fact") == "2,000 facts"
    assert [counted(number, "new entity", "new entities") for number in (1, 2)] == ["1 new entity", "2 new entities"]
