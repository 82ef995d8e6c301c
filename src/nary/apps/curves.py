"""The curves of a training: the loss and, where the valid split was ranked, its MRR."""

from pathlib import Path

from nary.plotting import new_figure, save_figure
from nary.runs.log import training_records

_LOSS, _VALID = "#2f6690", "#c8553d"


def plot_curves(folder: Path) -> None:
    """Draw ``curves.png`` into a run folder, from its ``metrics.jsonl``."""
    records = training_records(folder)
    losses = [record for record in records if "loss" in record]
    validations = [record for record in records if "valid_mrr" in record]
    if not losses:
        return
    figure = new_figure(folder / "curves.png", 7.5, 4)
    axes = figure.subplots()
    axes.plot([r["step"] for r in losses], [r["loss"] for r in losses], color=_LOSS, label="loss")
    axes.set_xlabel("step")
    axes.set_ylabel("loss", color=_LOSS)
    axes.spines["top"].set_visible(False)
    if validations:
        right = axes.twinx()
        right.plot([r["step"] for r in validations], [r["valid_mrr"] for r in validations], "o-", color=_VALID)
        right.set_ylabel("MRR of entities, valid", color=_VALID)
        right.set_ylim(0, 1)
        right.spines["top"].set_visible(False)
    axes.set_title(folder.name, loc="left", fontweight="bold", parse_math=False)
    save_figure(figure, folder / "curves.png")
