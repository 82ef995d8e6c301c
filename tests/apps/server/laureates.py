"""A few facts to browse, with labels that try to be markup and labels that two entities share."""

from dataclasses import replace

from runs.small import dataset_of

from nary.data.dataset import Dataset
from nary.facts import Fact

SCRIPT = "<script>window.hacked = 1</script>"
IMAGE = '<img src="x" onerror="window.hacked = 1">'
LABELS = {"Q7": IMAGE, "Q8": "Łódź & more", "P9": "<b>spouse</b>", "Ulm": "Paris"}


def _facts() -> list[Fact]:
    people = ["Marie Curie", "Pierre Curie", "Henri Becquerel", "Albert Einstein", "Niels Bohr", SCRIPT]
    years = ["1903", "1903", "1903", "1921", "1922", "1911"]
    places = ["Warsaw", "Paris", "Paris", "Ulm", "Copenhagen", "Q8"]
    facts = []
    for person, year, place in zip(people, years, places, strict=True):
        facts.append(Fact(person, "born in", place))
        facts.append(Fact(person, "award received", "Nobel Prize in Physics", [("point in time", year)]))
        facts.append(Fact(person, "award received", "Copley Medal", [("point in time", year), ("prize share", "1/2")]))
    return [*facts, Fact(SCRIPT, "P9", "Q7")]


def laureates() -> Dataset:
    """The dataset of the page that tests browse."""
    facts = _facts()
    data = dataset_of(train=facts, valid=facts[:6], test=facts[1:4])
    return replace(data, vocabulary=replace(data.vocabulary, labels=LABELS))
