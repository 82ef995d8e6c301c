"""How often the graph encoder runs, and how long what it made is kept."""

from collections.abc import Callable

import pytest
import torch
from contracts.losses import loss_on
from models.stare.small import every_group, facts, make

from nary.models.stare.model import Stare


def counted(model: Stare) -> list[bool]:
    """Grows by one, whether gradients are recorded, with each run."""
    runs: list[bool] = []
    assert model.encoder is not None
    model.encoder.register_forward_hook(lambda *_: runs.append(torch.is_grad_enabled()))
    return runs


def test_use_needs_one_run() -> None:
    model = make().eval()
    runs = counted(model)
    with torch.inference_mode():
        first = model.score(every_group(facts()), "entity")
    again = model.score(every_group(facts()), "entity")
    model.candidates("relation")
    model.eval()
    model.encode(every_group(facts())).sum().backward()  # what was made in inference mode is of use here too
    assert runs == [False]
    assert torch.equal(first, again)


CHANGES: dict[str, Callable[[Stare], object]] = {
    "trained": lambda model: model.train().eval(),
    "loaded": lambda model: model.load_state_dict(make().state_dict()),
    "moved": lambda model: model.double(),
    "cleared": lambda model: model.clear_graph(),
}


@pytest.mark.parametrize("change", sorted(CHANGES))
def test_after_a_change_it_runs_again(change: str) -> None:
    model = make().eval()
    runs = counted(model)
    for _ in range(2):
        model.candidates("entity")
        CHANGES[change](model)
        model.candidates("relation")
        model.encode(every_group(facts()))
    assert len(runs) == 3


def test_a_training_step_needs_one_run_and_leaves_nothing() -> None:
    model = make(graph_dropout=0.3)
    runs = counted(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(3):
        loss = loss_on(model, every_group(facts()), loss="bce")  # asks for entities and for relations
        entities = model.candidates("entity")[0]
        assert (entities == 0).any()  # dropped
        assert torch.equal(entities, model.candidates("entity")[0])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        model.post_step()
        assert model._encoded is None
    assert runs == [True] * 3


def test_two_steps_do_not_share_a_run() -> None:
    model = make()
    runs = counted(model)
    for _ in range(2):
        model.encode(every_group(facts()))
    assert len(runs) == 2
