"""Training steps of STARE a second, in turns with the plain implementation of ``tests/reference``.

    python benchmarks/stare.py --data jf17k [--batch 128] [--steps 3] [--precision auto] [--json]

Both run the graph encoder over all of train in each step, learn from the same questions for subjects and objects with
all their answers, and have the published sizes; the plain one cuts off qualifiers after the sixth. ``encoder_share`` is
the part of a forward pass that is spent in the graph encoder. ``peak_bytes`` is the memory of the whole process before
the plain implementation is made, ``plain_peak_bytes`` after its steps.
"""

import argparse
import statistics
import sys
from functools import partial

import torch
from common import peak_bytes, seconds, show
from reference.stare import ReferenceStare, StareConfig, graph_of, multi_hot, questions_of, train_step

from nary.data.load import load
from nary.models.base import DatasetInfo
from nary.models.stare.model import Stare, StareSettings
from nary.training.instances import Instances
from nary.training.lesson import Lesson
from nary.training.loop import precision
from nary.training.objective import masked_loss
from nary.training.optimizer import Optimizer
from nary.training.settings import TrainingSettings

CPU = torch.device("cpu")
SMOOTHING = 0.1


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Take turns and compare."""
    data = load(options.data)
    info = DatasetInfo.from_dataset(data)
    training = TrainingSettings(
        batch_size=options.batch,
        learning_rate=1e-4,
        weight_decay=0.0,
        loss="bce",
        entity_smoothing=SMOOTHING,
        shuffle="instances",
        merge_queries=True,
        precision=options.precision,
    )
    model = Stare(StareSettings(predicts="subject-object"), info)
    optimizer = Optimizer(model, training, 1000)
    instances = Instances(data.train, training, model.roles)

    def own_step(step: int) -> None:
        with precision(training.precision, CPU):
            loss = masked_loss(model, instances.at(step), training)
        loss.backward()
        optimizer.step(step + 200)
        model.post_step()

    for step in range(2):
        own_step(step)
    memory = peak_bytes()
    if options.profile:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            own_step(0)
        print(profile.key_averages().table(sort_by="self_cpu_time_total", row_limit=25), file=sys.stderr)
    config = StareConfig(info.num_entities, info.num_relations)
    plain = ReferenceStare(config, graph_of([block.ids for block in data.train.blocks]))
    adam = torch.optim.Adam(plain.parameters(), lr=1e-4)

    def plain_step(lesson: Lesson) -> None:
        parts = [questions_of(group.ids.numpy(), group.columns.numpy(), config) for group in lesson.batch.groups]
        questions = tuple(torch.cat(part) for part in zip(*parts, strict=True))
        labels = multi_hot(lesson.rows, lesson.answers, (len(lesson.batch), info.num_entities), SMOOTHING)
        train_step(plain, adam, questions, labels)

    plain_step(instances.at(0))
    own, theirs = [], []
    for step in range(1, options.steps + 1):
        own += [seconds(partial(own_step, step)) for _ in range(options.repeat)]
        theirs.append(seconds(partial(plain_step, instances.at(step))))
    encoding, forward = _forward(model, instances.at(0), training)
    return {
        "data": options.data,
        "batch_size": options.batch,
        "precision": "bf16" if isinstance(precision(training.precision, CPU), torch.autocast) else "fp32",
        "threads": torch.get_num_threads(),
        "ratio": statistics.median(theirs) / statistics.median(own),
        "seconds_per_step": statistics.median(own),
        "plain_seconds_per_step": statistics.median(theirs),
        "steps_per_epoch": len(instances) / options.batch,
        "encoder_share": encoding / forward,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "peak_bytes": memory,
        "plain_peak_bytes": peak_bytes(),
    }


def _forward(model: Stare, lesson: Lesson, training: TrainingSettings) -> tuple[float, float]:
    """The seconds of the graph encoder alone, and of the whole way to the loss."""
    assert model.encoder is not None
    encode = partial(model.encoder, model.entity_embedding, model.relation_embedding)
    with precision(training.precision, CPU):
        alone = statistics.median(seconds(encode) for _ in range(3))
        return alone, statistics.median(seconds(lambda: masked_loss(model, lesson, training)) for _ in range(3))


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", default="jf17k")
    options.add_argument("--batch", type=int, default=128)
    options.add_argument("--precision", choices=("auto", "fp32", "bf16"), default="auto")
    options.add_argument("--steps", type=int, default=3)
    options.add_argument("--repeat", type=int, default=2, help="own steps for each plain one")
    options.add_argument("--profile", action="store_true", help="print where the time of one own step goes")
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    show(measure(chosen), chosen.json)


if __name__ == "__main__":
    main()
