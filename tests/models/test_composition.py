"""The composition residual: which embeddings are added for which masked element."""

import numpy as np
import torch

from nary.models.batch import Group
from nary.models.composition import CompositionResidual, composition_signs


def test_the_sum_for_each_masked_element_of_a_fact_with_two_qualifiers() -> None:
    assert composition_signs(2).tolist() == [
        # relation, subject, object, attributes, values
        [0, -1, 1, 0, 0, 0, 0],
        [-1, 0, 1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 1, 0],
        [1, 1, 1, 0, 0, 0, 1],
        [1, 1, 1, 1, 0, 0, 0],
        [1, 1, 1, 0, 1, 0, 0],
    ]
    assert composition_signs(0).shape == (3, 3)


def test_each_role_has_its_own_map_and_unknown_elements_count_as_zero() -> None:
    residual = CompositionResidual(4).eval()
    for role in range(5):  # the map of a role is so many times the identity
        with torch.no_grad():
            residual.maps.weight[4 * role : 4 * role + 4] = (1 + role) * torch.eye(4)
            residual.maps.bias.zero_()
    relation, subject, object, attribute, value = embeddings = torch.randn(5, 4)
    columns = torch.arange(5)
    group = Group(torch.zeros(5, 5, dtype=torch.int64), columns)
    triple = relation + subject + object
    sums = torch.stack([object - subject, object - relation, subject + relation, triple + value, triple + attribute])
    normed = torch.nn.functional.layer_norm(sums, (4,), eps=1e-12)
    actual = residual(group, embeddings.expand(5, -1, -1))
    np.testing.assert_allclose(actual.detach(), (1 + columns[:, None]) * normed, atol=1e-5)

    without_subject = torch.zeros(5, 5, dtype=torch.bool)
    without_subject[:, 1] = True
    hidden = residual(Group(group.ids, columns, without_subject), embeddings.expand(5, -1, -1))
    normed = torch.nn.functional.layer_norm(relation, (4,), eps=1e-12)
    np.testing.assert_allclose(hidden[2].detach(), 3 * normed, atol=1e-5)
