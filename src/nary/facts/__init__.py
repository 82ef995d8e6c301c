"""Facts, queries, the vocabulary and the table of facts. Nothing here needs torch."""

from nary.facts.fact import GAP, Element, Fact, Gap, Position, Query, Role
from nary.facts.table import Block, FactTable
from nary.facts.text import parse, parse_fact, parse_query
from nary.facts.vocabulary import Vocabulary

__all__ = [
    "GAP",
    "Block",
    "Element",
    "Fact",
    "FactTable",
    "Gap",
    "Position",
    "Query",
    "Role",
    "Vocabulary",
    "parse",
    "parse_fact",
    "parse_query",
]
