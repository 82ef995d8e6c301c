"""How well plausibility tells true facts from corrupted ones, on test facts, which no model has learned from.

    python benchmarks/plausibility.py RUN... [--facts 1000] [--draws 3] [--seed 1] [--plot FILE.svg] [--json]

Every test fact, some with qualifiers left out, is also corrupted: half get an element that occurs in its slot
elsewhere, half any other. Figures are means over draws of facts and corruptions:

- AUC: the share of all pairs of a true and a corrupted fact in which the true one is more plausible; also for each kind
  of corruption, and for the product of fits, which needs no held-out facts.
- precision: with four true facts for each corrupted one, the share of corrupted ones among as many least plausible
  facts as there are corrupted ones.
- calibration error: how far plausibility is from the share of true facts, on average over ten bins.

``--plot`` draws the share of true facts over plausibility, a panel for each run.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nary import load_model
from nary.facts import FactTable
from nary.inference.classification import shortened
from nary.inference.corruption import Corruption, table_of_rows
from nary.plotting import new_figure, save_figure
from nary.runs import TrainedModel

BINS = 10
Floats = npt.NDArray[np.float64]


def scores(model: TrainedModel, table: FactTable) -> tuple[Floats, Floats]:
    """The plausibility of each fact, and the product of the fits of its elements."""
    classifier = model.predictor.classifier
    measured = classifier.evidence.measure(table)
    parts = [(classifier.probability(one), np.exp(np.nansum(one.log_fit, axis=1))) for one in measured]
    plausibility, fits = (np.concatenate(part) for part in zip(*parts, strict=True))
    return plausibility, fits


def auc(true: Floats, corrupted: Floats) -> float:
    """The share of pairs in the right order; ties count half."""
    return float(np.greater(true[:, None], corrupted).mean() + np.equal(true[:, None], corrupted).mean() / 2)


def precision(true: Floats, corrupted: Floats) -> float:
    """The share of corrupted facts among the least plausible, a fifth of all being corrupted."""
    planted = corrupted[: len(true) // 4]
    order = np.argsort(np.concatenate([planted, true]), kind="stable")
    return float((order[: len(planted)] < len(planted)).mean())


def reliability(true: Floats, corrupted: Floats) -> list[tuple[float, float, int]]:
    """The mean plausibility, the share of true facts and the number of facts in each bin that has any."""
    values = np.concatenate([true, corrupted])
    is_true = np.arange(len(values)) < len(true)
    bins = np.minimum((BINS * values).astype(int), BINS - 1)
    members = [bins == i for i in range(BINS) if (bins == i).any()]
    return [(float(values[one].mean()), float(is_true[one].mean()), int(one.sum())) for one in members]


def draw(model: TrainedModel, size: int, random: np.random.Generator) -> tuple[dict[str, float], tuple[Floats, Floats]]:
    """The figures of one draw, and the plausibility of true and corrupted facts."""
    context = model.predictor.context
    corruption, rows = Corruption(context), shortened(context, model.dataset.test, size, random)
    true, fits = scores(model, table_of_rows(rows))
    wrong, wrong_fits, figures = [], [], {}
    for kind, part in (("same slot", rows[::2]), ("random", rows[1::2])):
        changed = [corruption.corrupt(row, kind == "same slot", random) for row in part]
        plausibility, products = scores(model, table_of_rows([row for row in changed if row is not None]))
        figures[f"AUC {kind}"] = auc(true, plausibility)
        wrong.append(plausibility)
        wrong_fits.append(products)
    corrupted, corrupted_fits = (random.permutation(np.concatenate(one)) for one in (wrong, wrong_fits))
    bins = reliability(true, corrupted)
    return {
        "AUC": auc(true, corrupted),
        **figures,
        "precision": precision(true, corrupted),
        "calibration error": sum(abs(mean - share) * n for mean, share, n in bins) / (len(true) + len(corrupted)),
        "AUC product of fits": auc(fits, corrupted_fits),
        "precision product of fits": precision(fits, corrupted_fits),
    }, (true, corrupted)


def plot(panels: dict[str, tuple[Floats, Floats]], path: Path) -> None:
    """Draw the share of true facts over plausibility; the area of a point shows how many facts it stands for."""
    figure = new_figure(path, 3.2 * len(panels), 3.4)
    for axes, (name, (true, corrupted)) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
    ):
        mean, share, number = np.array(reliability(true, corrupted)).T
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        axes.plot(mean, share, color="C0", linewidth=1)
        axes.scatter(mean, share, s=300 * number / number.sum(), color="C0")
        axes.set(title=name, xlabel="plausibility", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    figure.axes[0].set_ylabel("share of true facts")
    save_figure(figure, path)


def main() -> None:
    """Measure, print and plot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--facts", type=int, default=1000, help="test facts in a draw, at most")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    panels: dict[str, tuple[Floats, Floats]] = {}
    for run in given.runs:
        model, random = load_model(run), np.random.default_rng(given.seed)
        draws = [draw(model, given.facts, random) for _ in range(given.draws)]
        figures = {name: float(np.mean([one[name] for one, _ in draws])) for name in draws[0][0]}
        true, corrupted = (np.concatenate([part[i] for _, part in draws]) for i in (0, 1))
        panels[f"{model.name} on {model.dataset.name}"] = true, corrupted
        described = {
            "run": run,
            "dataset": model.dataset.name,
            "facts": len(true),
            "corrupted": len(corrupted),
            **figures,
        }
        print(json.dumps(described) if given.json else described, flush=True)
    if given.plot:
        plot(panels, given.plot)


if __name__ == "__main__":
    main()
