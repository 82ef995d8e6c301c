"""Calibration: one temperature that makes a model as sure as it is right.

Models learn with smoothed labels and many candidates, so the softmax of their scores is seldom a probability one could
bet on. Dividing the scores by a temperature, fitted on facts the model has not learned from, changes no order and mends
most of that.
"""

import math

from torch import Tensor

_STEPS = 50
_EXACT_ENOUGH = 1e-4
_LOWEST, _HIGHEST = 1 / 64, 64.0
"""The temperatures considered: scores that tell nothing would ask for an infinite one."""


def fit_temperature(scores: Tensor, answers: Tensor) -> float:
    """The temperature under which ``answers`` [n] are most probable given ``scores`` [n, C].

    The negative log likelihood is convex in the inverse of the temperature: Newton's steps, none longer than a factor
    of e, lead to its minimum.
    """
    gold = scores.gather(1, answers[:, None])[:, 0]
    temperature = 1.0
    for _ in range(_STEPS):
        probabilities = (scores / temperature).softmax(-1)
        expected = (scores * probabilities).sum(-1)
        variance = (scores.square() * probabilities).sum(-1) - expected.square()
        slope, curvature = float((expected - gold).mean()), float(variance.mean())
        step = max(-1.0, min(1.0, temperature * slope / max(curvature, 1e-9)))
        before = temperature
        temperature = max(_LOWEST, min(_HIGHEST, before * math.exp(step)))
        if abs(math.log(temperature / before)) < _EXACT_ENOUGH:
            break
    return temperature


def sample_size(candidates: int) -> int:
    """How many queries to fit on: one number needs few, and their scores must fit into memory."""
    return max(1, min(1000, (1 << 25) // candidates))
