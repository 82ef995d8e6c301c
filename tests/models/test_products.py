"""Products by oneDNN are those of torch; where it cannot be used, torch is."""

from copy import deepcopy

import pytest
import torch
from torch import Tensor, nn

from nary.models import products
from nary.models.products import Linear, linear, score_candidates

needs_onednn = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="torch has no oneDNN here")


@pytest.fixture(params=[False, pytest.param(True, marks=needs_onednn)], ids=["mkl", "onednn"])
def onednn(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Each library in turn, whichever is faster here."""
    monkeypatch.setattr(products, "ONEDNN", request.param)
    monkeypatch.setattr(products, "_MIN_PRODUCTS", 1)
    return bool(request.param)


def operands(*shape: int) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(size, generator=generator) for size in ((*shape, 40), (33, 40), (33,)))


@pytest.mark.parametrize("shape", [(1,), (7,), (300,), (2, 5), (0,)])
def test_products_are_those_of_torch(onednn: bool, shape: tuple[int, ...]) -> None:
    x, weight, bias = operands(*shape)
    with torch.inference_mode():
        exact = nn.functional.linear(x.double(), weight.double(), bias.double()).float()
        torch.testing.assert_close(linear(x, weight, bias), exact, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(linear(x, weight, None), exact - bias, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(linear(x, weight.t().contiguous().t(), bias), exact, atol=1e-5, rtol=1e-5)
        if len(shape) == 1:
            torch.testing.assert_close(score_candidates(x, weight, bias), exact, atol=1e-5, rtol=1e-5)


def test_parts_of_larger_tensors_are_multiplied(onednn: bool) -> None:
    x, weight, bias = operands(9)
    with torch.inference_mode():
        for part in (x[::2], x[3:7], x.t().contiguous().t()):
            expected = nn.functional.linear(part, weight[5:20], bias[5:20])
            torch.testing.assert_close(linear(part, weight[5:20], bias[5:20]), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("rows", [0, 1, 7, 300])
def test_layers_apply_gelu_or_add_a_residual(onednn: bool, rows: int) -> None:
    x, weight, bias = operands(rows)
    layer = Linear(40, 33).eval()
    layer.load_state_dict({"weight": weight, "bias": bias})
    residual = x[:, :33].contiguous()
    exact = nn.functional.linear(x.double(), weight.double(), bias.double())
    expected = [exact.float(), nn.functional.gelu(exact).float(), (exact + residual).float()]
    for gradients in (False, True):
        with torch.inference_mode(not gradients):
            results = [layer(x), layer(x, gelu=True), layer(x, residual=residual)]
        for result, wanted in zip(results, expected, strict=True):
            torch.testing.assert_close(result, wanted, atol=1e-5, rtol=1e-5)


def test_layers_follow_their_weights(onednn: bool) -> None:
    x, weight, _ = operands(5)
    layer = Linear(40, 33)

    @torch.inference_mode()
    def check() -> None:
        layer.eval()
        torch.testing.assert_close(layer(x), nn.functional.linear(x, layer.weight, layer.bias), atol=1e-5, rtol=1e-5)

    check()
    optimizer = torch.optim.AdamW(layer.parameters(), lr=0.1, fused=True)
    for training in (True, False):
        layer.train(training)(x).square().sum().backward()
        optimizer.step()
        check()
    layer.load_state_dict({**layer.state_dict(), "weight": weight})
    check()
    layer.weight = nn.Parameter(-weight)
    check()
    layer = deepcopy(layer)
    check()


def test_gradients_flow(onednn: bool) -> None:
    x, *_ = operands(4)
    layer = Linear(40, 3)
    layer(x).sum().backward()
    torch.testing.assert_close(layer.weight.grad, x.sum(0).expand(3, 40))
    candidates = torch.ones(2, 40, requires_grad=True)
    score_candidates(x, candidates, torch.zeros(2)).sum().backward()
    torch.testing.assert_close(candidates.grad, x.sum(0).expand(2, 40))


def test_other_precisions_are_left_to_torch(onednn: bool) -> None:
    x, weight, bias = operands(4)
    with torch.inference_mode():
        assert linear(x.double(), weight.double(), bias.double()).dtype is torch.float64
        with torch.autocast("cpu", torch.bfloat16):
            assert linear(x, weight, bias).dtype is torch.bfloat16


def test_exported_programs_use_common_operations(onednn: bool) -> None:
    with torch.no_grad():
        program = torch.export.export(Linear(40, 3), (operands(4)[0],))
    assert not [node for node in program.graph.nodes if "mkldnn" in str(node.target)]
