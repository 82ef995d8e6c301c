"""Similar names: those whose vectors point the same way."""

import torch

from nary.errors import SettingError
from nary.inference.asking import Asker
from nary.inference.prediction import check_count
from nary.inference.results import Neighbor, Neighbors
from nary.models.base import Kind


def similar(asker: Asker, text: str, kind: Kind | None, k: int) -> Neighbors:
    """The ``k`` names nearest to the one ``text`` means, by the cosine of their vectors."""
    check_count(k)
    kind, own = asker.names.find(text, kind)
    try:
        with torch.inference_mode():
            table = asker.model.candidates(kind)[0].float().cpu()
    except NotImplementedError:
        raise SettingError(
            f"{asker.model.name} has no vectors to compare", "Use a model that has, such as gran."
        ) from None
    similarities = torch.nn.functional.cosine_similarity(table, table[own], dim=-1)
    similarities[own] = -torch.inf
    best = similarities.topk(min(k, len(table) - 1))
    names = asker.candidates(kind)
    found = [
        Neighbor(names[i], asker.vocabulary.label(names[i]), similarity)
        for i, similarity in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]
    return Neighbors(names[own], asker.vocabulary.label(names[own]), kind, found)
