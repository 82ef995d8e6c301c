"""Training steps of GRAN a second, in turns with the plain padded float32 implementation of ``tests/reference``.

    python benchmarks/training.py --data jf17k [--layers 12] [--width 256] [--batch 1024] [--precision auto] [--json]

Both get the same instances; equal questions are not merged. ``useful_flops`` counts the matrix products that training
needs, without padding and with the last layer at the masked vertex only: three times those of a forward pass.
Freed memory is kept for the next tensors as in every training, which spares both the time to clear pages.
``peak_flops`` is what this machine reaches on matrices of 2048 x 2048 in the same precision and the same run.
``peak_bytes`` is the memory of the whole process before the plain implementation is made.
"""

import argparse
import statistics
import sys
from functools import partial

import torch
from common import parser, peak_bytes, peak_flops, plain_twin, random_gran, seconds, settings_of, show
from reference.gran import ReferenceAdam, encode, targets_of, train_step

from nary.data.load import load
from nary.models.batch import Batch
from nary.models.gran import Gran, GranSettings
from nary.training.batches import TrainingBatches
from nary.training.losses import CrossEntropySettings, make_loss
from nary.training.optimizer import Optimizer
from nary.training.runtime import keep_freed_memory, precision
from nary.training.settings import TrainingSettings

CPU = torch.device("cpu")


def forward_flops(vertices: int, columns: float, settings: GranSettings) -> float:
    """Multiply-adds, counted twice, of one instance: all layers but the last, the last at the mask, the head."""
    width, inner = settings.hidden_dim, settings.ffn_dim
    layer = 2 * vertices * (4 * width**2 + 2 * width * inner) + 8 * vertices**2 * width
    last = 2 * (2 * vertices * width**2 + 2 * width**2 + 2 * width * inner) + 8 * vertices * width
    return (settings.num_layers - 1) * layer + last + 2 * (width**2 + columns * width)


def batch_flops(batch: Batch, model: Gran) -> float:
    """The useful work of training on a batch."""
    entities = len(model.entity_embedding)
    total = 0.0
    for group in batch.groups:
        for asks_entity in group.asks_entity.tolist():
            columns = entities if asks_entity else model.info.num_relations
            total += 3 * forward_flops(group.ids.shape[1], columns, model.settings)
    return total


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Take turns and compare."""
    keep_freed_memory()
    data = load(options.data)
    settings = settings_of(options)
    training = TrainingSettings(batch_size=options.batch, precision=options.precision)
    model = random_gran(data, settings)
    optimizer = Optimizer(model, training, 1000)
    batches = TrainingBatches(data.train, training)
    cross_entropy = make_loss(CrossEntropySettings(entity_label_smoothing=0.9), model.info)

    def our_step(step: int) -> None:
        with precision(training.precision, CPU):
            loss = cross_entropy(model, batches.batch_at(step))
        loss.backward()
        optimizer.step(step + 200)

    for step in range(3):
        our_step(step)
    memory = peak_bytes()
    if options.profile:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            our_step(0)
        print(profile.key_averages().table(sort_by="self_cpu_time_total", row_limit=25), file=sys.stderr)
    plain = plain_twin(data, settings)
    adam = ReferenceAdam(list(plain.parameters()))

    def plain_step(batch: Batch) -> None:
        parts = [(group.ids.numpy(), group.columns.numpy()) for group in batch.groups]
        encoded = [encode(ids, columns, plain.config) for ids, columns in parts]
        inputs = tuple(torch.cat([one[i] for one in encoded]) for i in range(3))
        targets = torch.cat([targets_of(ids, columns, plain.config) for ids, columns in parts])
        train_step(plain, adam, inputs, targets, (0.9, 0.0), 1e-4)

    plain_step(batches.batch_at(0).batch)
    used_bf16 = isinstance(precision(training.precision, CPU), torch.autocast)
    ours, theirs, flops, peaks = [], [], [], []
    for step in range(1, options.steps + 1):
        batch = batches.batch_at(step).batch
        ours += [seconds(partial(our_step, step)) for _ in range(options.repeat)]
        theirs.append(seconds(partial(plain_step, batch)))
        flops.append(batch_flops(batch, model))
        peaks.append(peak_flops(torch.bfloat16 if used_bf16 else torch.float32))
    peak = statistics.median(peaks)
    useful = statistics.median(flops) / statistics.median(ours)
    return {
        "data": options.data,
        "layers": settings.num_layers,
        "width": settings.hidden_dim,
        "batch": options.batch,
        "precision": "bf16" if used_bf16 else "fp32",
        "threads": torch.get_num_threads(),
        "ratio": statistics.median(theirs) / statistics.median(ours),
        "instances_per_second": options.batch / statistics.median(ours),
        "plain_instances_per_second": options.batch / statistics.median(theirs),
        "useful_flops": useful,
        "peak_flops": peak,
        "share_of_peak": useful / peak,
        "peak_bytes": memory,
    }


def main() -> None:
    """Measure and print."""
    options = parser(__doc__)
    options.add_argument("--batch", type=int, default=1024)
    options.add_argument("--steps", type=int, default=3)
    options.add_argument("--repeat", type=int, default=2, help="our steps for each plain one")
    options.add_argument("--profile", action="store_true", help="print where the time of one of our steps goes")
    chosen = options.parse_args()
    show(measure(chosen), chosen.json)


if __name__ == "__main__":
    main()
