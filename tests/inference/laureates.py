"""A small invented world of laureates, in which fields decide prizes and prizes have years, to train models on."""

from nary.data.dataset import Dataset
from nary.facts import Fact

_FIELDS = {
    "physics": "Nobel Prize in Physics",
    "chemistry": "Nobel Prize in Chemistry",
    "peace movement": "Nobel Peace Prize",
}
_PLACES = ("Berlin", "Paris", "London", "Vienna")


def _person(number: int, field: str, year: int) -> tuple[list[Fact], Fact]:
    """What is known about a person, and the prize."""
    name = "Albert Einstein" if (number, field) == (0, "physics") else f"{field} person {number}"
    facts = [Fact(name, "field of work", field), Fact(name, "occupation", f"worker in {field}")]
    facts.append(Fact(name, "place of birth", _PLACES[(number * 7) % 4]))
    qualifiers = [("point in time", str(year)), ("prize share", ("1", "1/2")[number % 2])]
    return facts, Fact(name, "award received", _FIELDS[field], qualifiers)


def laureates(people: int = 40) -> Dataset:
    """Every fifth prize is held out, among them Albert Einstein's of 1921; two laureates share each year and field."""
    splits: dict[str, list[Fact]] = {"train": [], "valid": [], "test": []}
    for field in _FIELDS:
        for number in range(people):
            facts, prize = _person(number, field, 1921 + (number // 2 if number else 0))
            splits["train"] += facts
            splits[{0: "valid", 1: "test"}.get(number % 5, "train")].append(prize)
    return Dataset.from_facts("laureates", splits)
