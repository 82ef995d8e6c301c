"""The rules by plain loops over facts: the reference that the vectorized counts must equal.

A fact is (relation, subject, object, ((attribute, value), ...)) of ids; a place in it is R, S, O, A0, V0, A1, ...
"""

import math
from collections import defaultdict
from itertools import combinations
from typing import Any

MAX_PATHS, MOST = 12, 1 - 1e-6


def elements(fact: Any) -> dict[str, int]:
    """What stands in each place."""
    relation, subject, object_, pairs = fact
    places = {"R": relation, "S": subject, "O": object_}
    for i, (attribute, value) in enumerate(pairs):
        places[f"A{i}"], places[f"V{i}"] = attribute, value
    return places


def is_entity(place: str) -> bool:
    return place[0] in "SOV"


def slot(fact: Any, place: str, masked: str | None) -> tuple[Any, ...]:
    """The slot of a known place, or of the masked one."""
    role, places = place[0], elements(fact)
    relation = None if masked == "R" else places["R"]
    attribute = None
    if role == "V" and masked != "A" + place[1:]:
        attribute = places["A" + place[1:]]
    return role, relation, attribute


def anchor_sets(fact: Any, masked: str) -> set[tuple[str, ...]]:
    known = [place for place in elements(fact) if is_entity(place) and place != masked]
    sets = {(place,) for place in known}
    if not is_entity(masked):
        attributes = [place for place in elements(fact) if place[0] == "A" and place != masked]
        sets |= {*((place,) for place in attributes), tuple(attributes)}
    if len(known) > 6:
        sets |= {pair for pair in combinations(known, 2) if pair[0] in "SO"}
    else:
        sets |= {*combinations(known, 2), *combinations(known, len(known) - 1)}
    return {one for one in {*sets, tuple(known)} if one}


def head_of(fact: Any, masked: str, anchors: tuple[str, ...]) -> tuple[Any, ...]:
    return slot(fact, masked, masked), tuple(sorted((slot(fact, one, masked) for one in anchors), key=str))


def context_of(fact: Any, masked: str, anchors: tuple[str, ...]) -> tuple[Any, ...]:
    known = [(slot(fact, one, masked), elements(fact)[one]) for one in anchors]
    return slot(fact, masked, masked), tuple(sorted(known, key=str))


def linked(fact: Any, masked: str) -> list[tuple[str, str]]:
    if is_entity(masked):
        return []
    values = [place for place in elements(fact) if place[0] == "V"]
    return [("S", "O"), *((first, value) for first in "SO" for value in values)]


def differ(first: set[int], second: set[int]) -> bool:
    """Whether there are two different facts, one of each."""
    return any(f != g for f in first for g in second)


class Reference:
    """Rules and scores of a list of facts."""

    def __init__(self, facts: list[Any], num_entities: int, num_relations: int, settings: Any) -> None:
        self.facts, self.settings = facts, settings
        self.sizes = {True: num_entities, False: num_relations}
        self.edges: Any = defaultdict(
            lambda: defaultdict(lambda: defaultdict(set))
        )  # source -> type -> target -> facts
        self.instances: Any = defaultdict(lambda: defaultdict(set))  # head -> (anchor, answer) -> facts
        self.pair_instances: Any = defaultdict(lambda: defaultdict(set))
        self.contexts: Any = defaultdict(set)  # (head, context) -> {(answer, fact)}
        for number, fact in enumerate(facts):
            self._read(number, fact)
        self.links = self._count_links()
        self.features = self._find_features()
        self.constants = self._count_constants()
        self.pairs = self._count_pairs()
        self.chains = self._count_chains() if settings.chains else {}
        self.rates, self.pooled = self._count_same()

    def _read(self, number: int, fact: Any) -> None:
        places = elements(fact)
        entities = [place for place in places if is_entity(place)]
        for a in entities:
            for b in entities:
                if a != b:
                    self.edges[places[a]][slot(fact, a, None), slot(fact, b, None)][places[b]].add(number)
        for masked, answer in places.items():
            for anchors in anchor_sets(fact, masked):
                head = head_of(fact, masked, anchors)
                self.contexts[head, context_of(fact, masked, anchors)].add((answer, number))
                if len(anchors) == 1 and is_entity(anchors[0]):
                    self.instances[head][places[anchors[0]], answer].add(number)
            for pair in linked(fact, masked):
                key = tuple(places[one] for one in pair)
                self.pair_instances[head_of(fact, masked, pair)][key, answer].add(number)

    def _judge(self, support: Any, body: Any) -> dict[Any, float]:
        rules = {}
        for rule, count in support.items():
            confidence = count / (body[rule[:2]] + self.settings.prior)
            if count >= self.settings.min_support and confidence >= self.settings.min_confidence:
                rules[rule] = confidence
        return rules

    @staticmethod
    def _anchors(instances: Any) -> Any:
        anchors = defaultdict(set)
        for (anchor, _), facts in instances.items():
            anchors[anchor] |= facts
        return anchors

    def _count_links(self) -> dict[Any, float]:
        support: Any = defaultdict(int)
        body: Any = defaultdict(int)
        for head, instances in self.instances.items():
            if head[0][0] not in "SOV":
                continue
            for anchor, facts in self._anchors(instances).items():
                for type_, targets in self.edges[anchor].items():
                    if len(targets) > self.settings.max_degree:
                        continue
                    for target, others in targets.items():
                        body[head, type_] += differ(facts, others)
                        support[head, type_] += differ(instances.get((anchor, target), set()), others)
        return self._judge(support, body)

    def _find_features(self) -> Any:
        features: Any = defaultdict(lambda: defaultdict(set))
        holders: Any = defaultdict(set)
        for source, types in list(self.edges.items()):
            for type_, targets in types.items():
                for target, facts in targets.items():
                    for feature in ((type_, target), (type_[0], None)):
                        features[source][feature] |= facts
                        holders[feature].add(source)
        kept = {feature for feature, who in holders.items() if len(who) >= max(2, self.settings.min_support)}
        chosen = {
            source: {feature: facts for feature, facts in its.items() if feature in kept}
            for source, its in features.items()
        }
        chosen = {source: its for source, its in chosen.items() if len(its) <= self.settings.max_degree}
        if self.settings.joint_features:
            self._join_features(chosen, {feature: holders[feature] for feature in kept})
        return chosen

    def _join_features(self, chosen: Any, holders: Any) -> None:
        """Add pairs of edges of one fact that enough entities have, and fewer than either edge."""
        joint: Any = defaultdict(lambda: defaultdict(set))  # pair -> source -> facts
        for number, fact in enumerate(self.facts):
            places = elements(fact)
            entities = [place for place in places if is_entity(place)]
            for a in entities if len(entities) <= 6 else ():
                edges = [((slot(fact, a, None), slot(fact, b, None)), places[b]) for b in entities if b != a]
                for first, second in combinations([edge for edge in edges if edge in holders], 2):
                    if first != second:
                        joint[frozenset({first, second})][places[a]].add(number)
        for pair, who in joint.items():
            if max(2, self.settings.min_support) <= len(who) < min(len(holders[one]) for one in pair):
                for source in who.keys() & chosen.keys():
                    chosen[source][pair] = who[source]

    def _count_constants(self) -> dict[Any, float]:
        support: Any = defaultdict(int)
        body: Any = defaultdict(int)
        for head, instances in self.instances.items():
            for anchor, facts in self._anchors(instances).items():
                for feature, others in self.features.get(anchor, {}).items():
                    body[head, feature] += differ(facts, others)
            for (anchor, answer), facts in instances.items():
                for feature, others in self.features.get(anchor, {}).items():
                    support[head, feature, answer] += differ(facts, others)
        return self._judge(support, body)

    def _count_pairs(self) -> dict[Any, float]:
        support: Any = defaultdict(int)
        body: Any = defaultdict(int)
        for head, instances in self.pair_instances.items():
            for (first, second), facts in self._anchors(instances).items():
                for type_, targets in self.edges[first].items():
                    body[head, type_] += differ(facts, targets.get(second, set()))
            for ((first, second), answer), facts in instances.items():
                for type_, targets in self.edges[first].items():
                    support[head, type_, answer] += differ(facts, targets.get(second, set()))
        return self._judge(support, body)

    def paths(self, anchor: int) -> Any:
        """(types, answer, facts of the first edge, facts of the second)."""
        for first, middles in list(self.edges[anchor].items()):
            for middle, facts in middles.items():
                for second, targets in list(self.edges[middle].items()):
                    for target, others in targets.items():
                        if target != anchor and len(middles) * len(targets) <= MAX_PATHS:
                            yield (first, second), target, facts, others

    def _count_chains(self) -> dict[Any, float]:
        support: Any = defaultdict(set)
        body: Any = defaultdict(set)

        def apart(facts: set[int], *bodies: set[int]) -> bool:
            return len(facts) > 1 or (len(facts) == 1 and facts not in bodies)

        for head, instances in self.instances.items():
            if head[0][0] not in "SOV":
                continue
            for anchor, facts in self._anchors(instances).items():
                for types, target, first, second in self.paths(anchor):
                    if apart(facts, first, second):
                        body[head, types].add((anchor, target))
                        if apart(instances.get((anchor, target), set()), first, second):
                            support[head, types].add((anchor, target))
        sizes = [{rule: len(pairs) for rule, pairs in part.items()} for part in (support, body)]
        return self._judge(*sizes)

    @staticmethod
    def bucket(count: int, total: int) -> tuple[int, int]:
        return min(int(math.log2(total)), 6), min(round(-2 * math.log2(count / total)), 19)

    def _count_same(self) -> tuple[Any, Any]:
        """(right, all) by head and bucket, and by the roles of the head and bucket."""
        rates: Any = defaultdict(lambda: [0, 0])
        pooled: Any = defaultdict(lambda: [0, 0])
        for (head, _), rows in self.contexts.items():
            for left_out in rows:
                others = [answer for answer, fact in rows if (answer, fact) != left_out]
                for answer in set(others):
                    bucket = self.bucket(others.count(answer), len(others))
                    for counts in (rates[head, bucket], pooled[self.shape(head), bucket]):
                        counts[0] += answer == left_out[0]
                        counts[1] += 1
        return rates, pooled

    @staticmethod
    def shape(head: Any) -> Any:
        return head[0][0], tuple(sorted(one[0] for one in head[1]))

    def same(self, head: Any, context: Any) -> dict[int, float]:
        """The confidence of each candidate of a context."""
        rows = self.contexts.get((head, context), set())
        answers, prior = [answer for answer, _ in rows], self.settings.prior
        confidences = {}
        for answer in set(answers):
            bucket = self.bucket(answers.count(answer), len(answers))
            right, of_all = self.rates.get((head, bucket), (0, 0))
            pooled_right, pooled_all = self.pooled.get((self.shape(head), bucket), (0, 0))
            mean = pooled_right / (pooled_all + prior + 1e-9)
            confidence = (right + prior * mean) / (of_all + prior + 1e-9)
            if confidence >= self.settings.min_confidence:
                confidences[answer] = confidence
        return confidences

    def floor(self, fact: Any, masked: str) -> list[float]:
        """The share of every candidate in the slot, and a little of the rest."""
        target = slot(fact, masked, masked)
        kind = is_entity(masked)
        counts: Any = defaultdict(lambda: defaultdict(int))
        overall = [1.0] * self.sizes[kind]
        for other in self.facts:
            for place, answer in elements(other).items():
                if is_entity(place) == kind:
                    role, relation, attribute = slot(other, place, place)
                    counts[role, relation, attribute][answer] += 1
                    overall[answer] += 1
                    if role == "V":
                        counts[role, None, attribute][answer] += 1
                        overall[answer] += 1
        weighted = [(target, 1.0)] + ([((target[0], None, target[2]), 1e-3)] if target[0] == "V" else [])
        shares = [1e-4 * one / sum(overall) for one in overall]
        for one, weight in weighted:
            for answer, count in counts[one].items():
                shares[answer] += weight * count / (sum(counts[one].values()) + self.settings.prior)
        return [min(share, MOST) for share in shares]

    def scores(self, fact: Any, masked: str, weight: Any = lambda kind, anchors: 1.0) -> list[float]:
        """The log-probability of every candidate; ``weight`` says how much a kind of rules from some anchors counts."""
        floor, places = self.floor(fact, masked), elements(fact)
        groups: list[tuple[float, dict[int, list[float]]]] = []
        for anchors in anchor_sets(fact, masked):
            head = head_of(fact, masked, anchors)
            same = {answer: [c] for answer, c in self.same(head, context_of(fact, masked, anchors)).items()}
            groups.append((weight("same", anchors), same))
            if len(anchors) == 1 and is_entity(anchors[0]):
                single = self._single(head, places[anchors[0]])
                groups += [(weight(kind, anchors), named) for kind, named in single.items()]
        for pair in linked(fact, masked):
            head, (first, second) = head_of(fact, masked, pair), (places[pair[0]], places[pair[1]])
            types = [type_ for type_, targets in self.edges[first].items() if second in targets]
            groups += [
                (weight("pair", pair), {answer: [confidence]})
                for (one, type_, answer), confidence in self.pairs.items()
                if one == head and type_ in types
            ]
        noisy_or = masked[0] != "A"
        scores = []
        for candidate, share in enumerate(floor):
            named = [(weight, min(max(group[candidate]), MOST)) for weight, group in groups if candidate in group]
            evidence = [-weight * math.log1p(-one) for weight, one in [(1.0, share), *named]]
            total = sum(evidence) if noisy_or else max(evidence)
            scores.append(total + math.log(-math.expm1(-total)))  # log-odds
        highest = max(scores)
        total = highest + math.log(sum(math.exp(score - highest) for score in scores))
        return [score - total for score in scores]

    def _single(self, head: Any, anchor: int) -> dict[str, dict[int, list[float]]]:
        named: Any = {kind: defaultdict(list) for kind in ("constant", "link", "chain")}
        for (one, feature, answer), confidence in self.constants.items():
            if one == head and feature in self.features.get(anchor, {}):
                named["constant"][answer].append(confidence)
        if head[0][0] in "SOV":
            for type_, targets in self.edges[anchor].items():
                for target in targets if len(targets) <= self.settings.max_degree else ():
                    if (head, type_) in self.links:
                        named["link"][target].append(self.links[head, type_])
            for types, target, _, _ in self.paths(anchor):
                if (head, types) in self.chains:
                    named["chain"][target].append(self.chains[head, types])
        return named
