"""The loss in which only new candidates learn is cross-entropy over all candidates."""

import numpy as np
import pytest
import torch
from contracts.info import info_of
from torch import Tensor, nn

from nary.config import Settings
from nary.models.base import Kind, Model
from nary.models.new_names import NewNames
from nary.training.kernels import Targets, chunked_cross_entropy
from nary.training.losses import CrossEntropySettings
from nary.training.new_candidates import NewCandidateLoss, QueryTargets

SIZES = info_of(10, 4, 3)
"""The numbers of entities and relations, and the arity."""
APPENDED = NewNames(np.arange(6, 10), np.array([3]))
SCATTERED = NewNames(np.array([0, 3, 5, 9]), np.array([1]))


class Tables(Model):
    """Candidates of both kinds, and nothing else."""

    name = "tables"

    def __init__(self) -> None:
        super().__init__(Settings(), SIZES)
        random = torch.Generator().manual_seed(0)
        self.vectors = nn.Parameter(torch.randn(14, 8, generator=random))
        self.bias = nn.Parameter(torch.randn(14, generator=random))

    def candidates(self, kind: Kind) -> tuple[Tensor, Tensor]:
        rows = slice(10) if kind == "entity" else slice(10, None)
        return self.vectors[rows], self.bias[rows]


@pytest.mark.parametrize("names", [APPENDED, SCATTERED], ids=["appended", "scattered"])
@pytest.mark.parametrize("known_sums", [True, False])
def test_loss_and_gradients_are_those_of_cross_entropy(known_sums: bool, names: NewNames) -> None:
    model, settings = Tables(), CrossEntropySettings(entity_label_smoothing=0.3, relation_label_smoothing=0.1)
    queries = torch.randn(7, 8, generator=torch.Generator().manual_seed(1)).requires_grad_()
    asks_entity = torch.tensor([True, True, False, True, False, False, True])
    answers = torch.tensor([0, 9, 3, 6, 1, 2, 5])  # old and new ones of both kinds
    weights = torch.tensor([1.0, 2.0, 0.5, 1.0, 1.0, 3.0, 1.0])

    expected = torch.zeros(())
    for kind, chosen in (("entity", asks_entity), ("relation", ~asks_entity)):
        targets = Targets(torch.arange(int(chosen.sum())), answers[chosen], weights[chosen])
        expected = expected + chunked_cross_entropy(
            queries[chosen], *model.candidates(kind), targets, settings.smoothing(kind)
        )
    parts = [queries, model.vectors, model.bias]
    of_queries, of_vectors, of_bias = torch.autograd.grad(expected, parts)

    loss, targets = NewCandidateLoss(model, settings, names), QueryTargets(asks_entity, answers, weights)
    log_sums = loss.old_log_sums(queries, targets)
    actual = loss(queries, targets, log_sums.detach() if known_sums else log_sums)
    assert torch.allclose(actual, expected, atol=1e-5)
    got_queries, got_vectors, got_bias = torch.autograd.grad(actual, parts)
    new = [*names.entities.tolist(), *(10 + names.relations).tolist()]
    assert torch.allclose(got_vectors[new], of_vectors[new], atol=1e-5)
    assert torch.allclose(got_bias[new], of_bias[new], atol=1e-5)
    assert torch.allclose(got_queries, of_queries, atol=1e-5) != known_sums


def test_without_new_relations_they_are_asked_for_all_the_same() -> None:
    model = Tables()
    loss = NewCandidateLoss(model, CrossEntropySettings(), NewNames(np.arange(6, 10), np.arange(0)))
    queries = torch.randn(3, 8)
    targets = QueryTargets(torch.zeros(3, dtype=torch.bool), torch.tensor([0, 1, 3]), torch.ones(3))
    scores = queries @ model.vectors[10:].T + model.bias[10:]
    actual = loss(queries, targets, loss.old_log_sums(queries, targets))
    assert torch.allclose(actual, nn.functional.cross_entropy(scores, targets.answers, reduction="sum"), atol=1e-5)
    actual.backward()
    assert not model.vectors.grad.isnan().any()


def test_a_sample_of_the_candidates_counts_for_all() -> None:
    model, queries = Tables(), torch.randn(3, 8, generator=torch.Generator().manual_seed(1))
    targets = QueryTargets(torch.ones(3, dtype=torch.bool), torch.tensor([0, 5, 9]), torch.ones(3))
    sampled = NewCandidateLoss(model, CrossEntropySettings(), APPENDED, max_candidates=3)
    scores = queries @ model.vectors[:6].T + model.bias[:6]
    scores[[0, 1], [0, 5]] = -torch.inf  # the answers that are old ones
    exact = scores.logsumexp(1)
    assert torch.allclose(sampled.old_log_sums(queries, targets, exact=True), exact, atol=1e-5)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        drawn = torch.stack([sampled.old_log_sums(queries, targets) for _ in range(2000)])
        losses = torch.stack([sampled(queries, targets, exact) for _ in range(2)])
    assert torch.allclose(drawn.exp().mean(0), exact.exp(), rtol=0.1)
    assert losses[0] != losses[1]  # of four new candidates, three are drawn


def test_one_old_candidate_that_is_the_answer() -> None:
    model, names = Tables(), NewNames(np.arange(1, 10), np.arange(0))
    loss, queries = NewCandidateLoss(model, CrossEntropySettings(), names), torch.randn(1, 8)
    targets = QueryTargets(torch.ones(1, dtype=torch.bool), torch.tensor([0]), torch.ones(1))
    scores = queries @ model.vectors[:10].T + model.bias[:10]
    actual = loss(queries, targets, loss.old_log_sums(queries, targets))
    assert torch.allclose(actual, nn.functional.cross_entropy(scores, targets.answers), atol=1e-5)
