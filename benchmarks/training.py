"""Training steps of GRAN a second, in turns with the plain padded float32 implementation of ``tests/reference``.

    python benchmarks/training.py --data jf17k [--layers 12] [--width 256] [--batch 1024] [--precision auto] [--json]

Both get the same instances. ``useful_flops`` counts the matrix products that training needs, without padding and with
the last layer at the masked vertex only: three times those of a forward pass. ``peak_flops`` is what this machine
reaches on matrices of 2048 x 2048 in the same precision and the same run.
"""

import argparse
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import orjson
import torch

from nary.data.load import load
from nary.inference.folder import sizes_of
from nary.models.batch import Batch
from nary.models.gran.model import Gran
from nary.models.gran.settings import GranSettings
from nary.training.instances import Instances
from nary.training.loop import precision
from nary.training.objective import masked_loss
from nary.training.optimiser import Optimiser
from nary.training.settings import TrainingSettings

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from reference.gran import ReferenceAdam, ReferenceConfig, ReferenceGran, encode, targets_of, train_step

CPU = torch.device("cpu")


def seconds(work: Callable[[], object]) -> float:
    """How long ``work`` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def forward_flops(vertices: int, columns: float, settings: GranSettings) -> float:
    """Multiply-adds, counted twice, of one instance: all layers but the last, the last at the mask, the head."""
    width, inner = settings.width, settings.inner
    layer = 2 * vertices * (4 * width**2 + 2 * width * inner) + 8 * vertices**2 * width
    last = 2 * (2 * vertices * width**2 + 2 * width**2 + 2 * width * inner) + 8 * vertices * width
    return (settings.layers - 1) * layer + last + 2 * (width**2 + columns * width)


def batch_flops(batch: Batch, model: Gran) -> float:
    """The useful work of training on a batch."""
    entities = len(model.output_bias) - model.relations
    total = 0.0
    for group in batch.groups:
        for asks_entity in group.asks_entity.tolist():
            columns = entities if asks_entity else model.relations
            total += 3 * forward_flops(group.ids.shape[1], columns, model.settings)
    return total


def peak_flops(kind: torch.dtype) -> float:
    """What the machine reaches on a product of two large matrices."""
    matrix = torch.randn(2048, 2048).to(kind)
    return 2 * 2048**3 / min(seconds(lambda: matrix @ matrix) for _ in range(5))


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Take turns and compare."""
    data = load(options.data)
    sizes = sizes_of(data)
    settings = GranSettings(
        layers=options.layers, width=options.width, inner=2 * options.width, dropout=options.dropout
    )
    training = TrainingSettings(batch=options.batch, entity_smoothing=0.9, precision=options.precision)
    model = Gran(settings, sizes)
    optimiser = Optimiser(model, training, 1000)
    instances = Instances(data.train, training)
    config = ReferenceConfig(
        entities=sizes.entities,
        relations=sizes.relations,
        max_arity=sizes.max_arity,
        layers=settings.layers,
        heads=settings.heads,
        width=settings.width,
        inner=settings.inner,
        dropout=settings.dropout,
    )
    plain = ReferenceGran(config)
    adam = ReferenceAdam(list(plain.parameters()))

    def own_step(step: int) -> None:
        with precision(training.precision, CPU):
            loss = masked_loss(model, instances.at(step), training)
        loss.backward()
        optimiser.step(step + 200)

    def plain_step(batch: Batch) -> None:
        parts = [(group.ids.numpy(), group.columns.numpy()) for group in batch.groups]
        encoded = [encode(ids, columns, config) for ids, columns in parts]
        inputs = tuple(torch.cat([one[i] for one in encoded]) for i in range(3))
        targets = torch.cat([targets_of(ids, columns, config) for ids, columns in parts])
        train_step(plain, adam, inputs, targets, (0.9, 0.0), 1e-4)

    own_step(0)
    plain_step(instances.at(0).batch)
    own, theirs, flops = [], [], []
    for step in range(1, options.steps + 1):
        batch = instances.at(step).batch
        own += [seconds(lambda step=step: own_step(step)) for _ in range(options.repeat)]
        theirs.append(seconds(lambda batch=batch: plain_step(batch)))
        flops.append(batch_flops(batch, model))
    used_bf16 = isinstance(precision(training.precision, CPU), torch.autocast)
    peak = peak_flops(torch.bfloat16 if used_bf16 else torch.float32)
    useful = statistics.median(flops) / statistics.median(own)
    return {
        "data": options.data,
        "layers": settings.layers,
        "width": settings.width,
        "batch": options.batch,
        "precision": "bf16" if used_bf16 else "fp32",
        "threads": torch.get_num_threads(),
        "ratio": statistics.median(theirs) / statistics.median(own),
        "instances_per_second": options.batch / statistics.median(own),
        "plain_instances_per_second": options.batch / statistics.median(theirs),
        "useful_flops": useful,
        "peak_flops": peak,
        "share_of_peak": useful / peak,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="jf17k")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--precision", choices=("auto", "fp32", "bf16"), default="auto")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=2, help="own steps for each plain one")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options)
    if options.json:
        print(orjson.dumps(found).decode())
        return
    for name, value in found.items():
        print(f"{name:28} {value:,.3f}" if isinstance(value, float) else f"{name:28} {value}")


if __name__ == "__main__":
    main()
