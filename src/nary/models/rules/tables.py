"""All rules of a set of facts, counted once."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from nary.facts import FactTable
from nary.models.rules.chains import Walker, mine_chains
from nary.models.rules.edges import Edges
from nary.models.rules.features import Features, find_features
from nary.models.rules.heads import Heads, collect, find_heads
from nary.models.rules.mining import RuleSet, mine_constants, mine_links, mine_pairs
from nary.models.rules.same import Contexts, mine_same
from nary.models.rules.settings import RulesSettings
from nary.models.rules.slots import Slots, linked_anchors, single_anchors

Kind = Literal["same", "link", "constant", "pair", "chain"]
KINDS: tuple[Kind, ...] = ("same", "link", "constant", "pair", "chain")


@dataclass(frozen=True, eq=False)
class Base:
    """What rules are written in: slots, heads, edges and features of the facts."""

    slots: Slots
    heads: Heads
    edges: Edges
    features: Features
    walker: Walker

    @classmethod
    def of(cls, facts: FactTable, num_entities: int, num_relations: int, settings: RulesSettings) -> "Base":
        """Find them."""
        slots = Slots(num_relations)
        edges = Edges.of(facts, slots, num_entities)
        heads = find_heads(facts, slots, num_entities)
        return cls(slots, heads, edges, find_features(facts, slots, edges, settings), Walker(edges))


@dataclass(frozen=True, eq=False)
class RuleTables:
    """All rules by kind, and the contexts that the rules of kind ``same`` judge."""

    settings: RulesSettings
    base: Base
    rules: dict[Kind, RuleSet]
    contexts: Contexts


def mine(facts: FactTable, base: Base, settings: RulesSettings) -> RuleTables:
    """Count all rules of ``facts``."""
    entity = collect(facts, base.slots, base.heads, single_anchors, entities=True)
    relation = collect(facts, base.slots, base.heads, single_anchors, entities=False)
    pairs = collect(facts, base.slots, base.heads, linked_anchors, entities=False)
    constants = [mine_constants(part, base.features, settings) for part in (entity, relation)]
    same, contexts = mine_same(facts, base.slots, base.heads, settings)
    chains = mine_chains(entity, base.edges, base.walker, settings) if settings.chains else NO_RULES
    rules: dict[Kind, RuleSet] = {
        "same": same,
        "link": mine_links(entity, base.edges, settings),
        "constant": _joined(constants),
        "pair": mine_pairs(pairs, base.edges, settings),
        "chain": chains,
    }
    return RuleTables(settings, base, rules, contexts)


_NONE = np.empty(0, np.int64)
NO_RULES = RuleSet(_NONE, _NONE, _NONE, _NONE, np.empty(0))


def _joined(parts: list[RuleSet]) -> RuleSet:
    """Rules of several parts, sorted by key."""
    columns = zip(*((part.key, part.answer, part.support, part.body, part.confidence) for part in parts), strict=True)
    rules = RuleSet(*(np.concatenate(column) for column in columns))
    return rules.take(np.argsort(rules.key, kind="stable"))
