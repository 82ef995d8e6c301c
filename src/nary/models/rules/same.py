"""Same context, other fact: what stands beside the same elements elsewhere, and how often it does so again.

A context is a set of known elements in their slots (the subject; subject and one value; nothing but the target slot).
A candidate with ``n`` of the ``N`` other facts of its context falls into a bucket by ``N`` and ``n / N``; how often the
candidates of a bucket are right is counted for each head, every training fact being left out in turn.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nary.facts import FactTable
from nary.models.rules.arrays import Index, Ints
from nary.models.rules.heads import Heads
from nary.models.rules.mining import Floats, RuleSet
from nary.models.rules.settings import RulesSettings
from nary.models.rules.slots import Slots, contexts

_SHARES, _SIZES = 20, 7
BUCKETS = _SHARES * _SIZES


@dataclass(frozen=True, eq=False)
class Contexts:
    """The candidates of each context: ``key`` (sorted), ``answer`` and the ``rule`` that judges it, [n] each."""

    key: Ints
    answer: Ints
    rule: Ints


def bucket_of(count: Ints, total: Ints) -> Ints:
    """The bucket of candidates with ``count`` of ``total`` facts."""
    size = np.minimum(np.log2(np.maximum(total, 1)), _SIZES - 1).astype(np.int64)
    # Rounded, not cut: shares such as 1/2 lie inside a bucket, so leaving a fact out does not tell its answer.
    share = np.minimum(np.rint(-2 * np.log2(np.maximum(count, 1) / np.maximum(total, 1))), _SHARES - 1)
    return size * _SHARES + share.astype(np.int64)


def mine_same(facts: FactTable, slots: Slots, heads: Heads, settings: RulesSettings) -> tuple[RuleSet, Contexts]:
    """The rules, keyed ``head * BUCKETS + bucket``, and the contexts of all facts."""
    keys, head, answer, fact = _rows(facts, slots, heads)
    order = np.lexsort((fact, answer, keys))
    keys, head, answer, fact = keys[order], head[order], answer[order], fact[order]
    new = np.concatenate([[True], (keys[1:] != keys[:-1]) | (answer[1:] != answer[:-1])])[: len(keys)]
    once = np.flatnonzero(new | np.concatenate([[True], fact[1:] != fact[:-1]])[: len(keys)])  # a fact counts once
    keys, head, answer, new = keys[once], head[once].astype(np.int64), answer[once].astype(np.int64), new[once]
    first = np.flatnonzero(new)
    count = np.diff(np.append(first, len(keys)))
    keys, head, answer = keys[first], head[first], answer[first]
    index = Index.of(keys)
    total = np.repeat(np.add.reduceat(count, index.starts[:-1]), index.counts)
    support, body = _outcomes(head, count, total, len(heads))
    rates = _rates(support, body, heads, settings.prior)
    rule = head * BUCKETS + bucket_of(count, total)
    kept = np.flatnonzero(rates.ravel()[rule] >= settings.min_confidence)
    used, rule = np.unique(rule[kept], return_inverse=True)
    columns = (support.ravel()[used], body.ravel()[used], rates.ravel()[used])
    return RuleSet(used, np.full(len(used), -1), *columns), Contexts(keys[kept].view(np.int64), answer[kept], rule)


def _rows(facts: FactTable, slots: Slots, heads: Heads) -> tuple[Any, ...]:
    """Context key, head, answer and fact of every context of every masked fact."""
    parts: list[tuple[Any, ...]] = [(np.empty(0, np.uint64), *(np.empty(0, np.int32) for _ in range(3)))]
    for block in facts.blocks:
        ids, fact = block.ids.astype(np.int64), block.rows.astype(np.int32)
        for masked in range(ids.shape[1]):
            parts.extend(
                (context.keys, heads.numbers(context.heads).astype(np.int32), block.ids[:, masked], fact)
                for context in contexts(slots, ids, masked)
                if context.columns
            )
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def _outcomes(head: Ints, count: Ints, total: Ints, num_heads: int) -> tuple[Ints, Ints]:
    """How often the candidates of each head and bucket are right, and how many there are.

    With each fact of a context left out in turn, a candidate is right ``count`` times, if it remains, and wrong
    ``total - count`` times.
    """
    size = num_heads * BUCKETS
    again, other = count > 1, total > count
    right = head[again] * BUCKETS + bucket_of(count[again] - 1, total[again] - 1)
    wrong = head[other] * BUCKETS + bucket_of(count[other], total[other] - 1)
    support = np.bincount(right, count[again], minlength=size)
    body = support + np.bincount(wrong, (total - count)[other], minlength=size)
    return support.reshape(-1, BUCKETS).astype(np.int64), body.reshape(-1, BUCKETS).astype(np.int64)


def _rates(support: Ints, body: Ints, heads: Heads, prior: float) -> Floats:
    """Confidences: shrunk to that of all heads of the same shape (roles), which is itself shrunk to 0."""
    shape = np.unique(np.where(heads.slots >= 0, heads.slots % 8, -1), axis=0, return_inverse=True)[1].ravel()
    pooled = np.zeros((2, int(shape.max(initial=0)) + 1, BUCKETS))
    np.add.at(pooled[0], shape, support)
    np.add.at(pooled[1], shape, body)
    mean = (pooled[0] / (pooled[1] + prior + 1e-9))[shape]
    return (support + prior * mean) / (body + prior + 1e-9)


def describe_bucket(bucket: int) -> str:
    """The bucket in words."""
    size, share = divmod(bucket, _SHARES)
    facts = f"{2**size}" if size == 0 else f"{2**size}-{2 ** (size + 1) - 1}" if size < _SIZES - 1 else f"{2**size}+"
    return f"in about {2 ** (-share / 2):.0%} of {facts} facts"
