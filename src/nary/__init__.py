"""Nary: link prediction on n-ary facts.

>>> import nary
>>> data = nary.load("nobel")
>>> run = nary.train(data, model="gran", out="curie/", epochs=20)  # doctest: +SKIP
>>> run.evaluate().table()  # doctest: +SKIP
>>> run.predict("Marie Curie | award received | ? | point in time: 1911", k=5)  # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nary.version import __version__ as __version__

if TYPE_CHECKING:
    from nary.api import load_model, train
    from nary.data.catalog import register_dataset
    from nary.data.dataset import Dataset
    from nary.data.io.formats import register_format
    from nary.data.io.reader import read
    from nary.data.io.writer import write
    from nary.data.load import load
    from nary.errors import NaryError
    from nary.facts import GAP, Fact, FactTable, Position, Query, Vocabulary, parse_fact, parse_query

_PLACES = {
    "load_model": "nary.api",
    "train": "nary.api",
    "Dataset": "nary.data.dataset",
    "load": "nary.data.load",
    "read": "nary.data.io.reader",
    "write": "nary.data.io.writer",
    "register_dataset": "nary.data.catalog",
    "register_format": "nary.data.io.formats",
    "NaryError": "nary.errors",
    **dict.fromkeys(
        ("GAP", "Fact", "FactTable", "Position", "Query", "Vocabulary", "parse_fact", "parse_query"), "nary.facts"
    ),
}
__all__ = [  # noqa: RUF022 (in the order of use)
    "load",
    "read",
    "train",
    "load_model",
    "write",
    "Dataset",
    "Fact",
    "FactTable",
    "GAP",
    "NaryError",
    "Position",
    "Query",
    "Vocabulary",
    "parse_fact",
    "parse_query",
    "register_dataset",
    "register_format",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: ``import nary`` stays fast."""
    if name not in _PLACES:
        raise AttributeError(f"module 'nary' has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
