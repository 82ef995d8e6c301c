"""Who speaks for an answer: the rules that name it, and the parts of a blend."""

import numpy as np
import torch

from nary.errors import SettingError
from nary.evaluation.queries import EncodedQuery, make_batch
from nary.facts import Fact, Role
from nary.inference.context import Context
from nary.inference.explanation_results import Named, PartVote, Rule, RuleExample, RuleList, RuleReason
from nary.models.base import Model
from nary.models.blend.model import Blend, parts_of
from nary.models.rules.model import Rules
from nary.models.rules.reader import Example, RuleReader
from nary.models.rules.tables import KINDS


def rule_reasons(context: Context, query: EncodedQuery) -> list[RuleReason]:
    """The rules that name the answer of a query, with the facts that make them apply; none without rules."""
    model = rules_in(context.model)
    if model is None or query.hidden:
        return []
    reader = RuleReader(model.engine, context.vocabulary)
    return [
        RuleReason(
            reason.kind,
            reason.body,
            reason.confidence,
            reason.support,
            reason.cases,
            [_named(context, fact) for fact in reason.facts],
        )
        for reason in reader.explain(np.array(query.ids), query.column, query.answer)
    ]


def part_votes(context: Context, query: EncodedQuery) -> list[PartVote]:
    """What each part of a blend says of the answer, the one with the most weight first; none for other models."""
    model = context.model
    if not isinstance(model, Blend):
        return []
    batch = make_batch([query]).to(context.scorer.device)
    votes = []
    with torch.inference_mode():
        factors = model.factors(batch)[0].tolist()
        weights = model.weights(batch)[0].tolist()
        for part, factor, weight in zip(model.models, factors, weights, strict=True):
            if factor:
                scores = part.score(batch, query.kind)[0].float().cpu() * (factor / weight)
                higher = int((scores > scores[query.answer]).sum())
                probability = float(scores.softmax(0)[query.answer])
                votes.append(PartVote(part.name, weight / sum(map(abs, weights)), probability, higher + 1))
    return sorted(votes, key=lambda vote: -vote.weight)


def list_rules(context: Context, relation: str | None, kind: str | None, role: str | None, limit: int) -> RuleList:
    """The most confident rules, each with an example."""
    model = rules_in(context.model)
    if model is None:
        raise SettingError(f"{context.model.name} has no rules", "Train rules: nary train DATA --model rules")
    chosen = next((one for one in KINDS if one == kind), None)
    if kind is not None and chosen is None:
        raise SettingError(f"unknown kind of rule {kind!r}", f"Kinds are: {', '.join(KINDS)}.")
    target = next((one for one in Role if one.value == role), None)
    if role is not None and target is None:
        raise SettingError(f"unknown role {role!r}", f"Roles are: {', '.join(one.value for one in Role)}.")
    if limit < 1:
        raise SettingError(f"{limit} rules were asked for", "Ask for one or more.")
    name = None
    if relation is not None:
        name = context.vocabulary.relations[context.names.find(relation, "relation")[1]]
    reader = RuleReader(model.engine, context.vocabulary)
    rules = []
    for row in reader.list_rules(name, chosen, target, limit).iter_rows(named=True):
        number = row.pop("row")
        rules.append(Rule(**row, example=_example(context, reader.example(row["kind"], number))))
    return RuleList(name, sum(map(len, model.engine.tables.rules.values())), rules)


def rules_in(model: Model) -> Rules | None:
    """The rules that a model is, or that a blend has as a part."""
    return next((one for one in (model, *parts_of(model)) if isinstance(one, Rules)), None)


def _named(context: Context, fact: Fact) -> Named:
    return Named(str(fact), context.names.labeled(fact))


def _example(context: Context, example: Example | None) -> RuleExample | None:
    if example is None:
        return None
    return RuleExample(_named(context, example.fact), [_named(context, fact) for fact in example.because])
