"""Runs: where data, model, training and evaluation meet."""

from nary.runs.blend_training import BlendResult, blend_runs, start_blend
from nary.runs.budget import fit_epochs
from nary.runs.preparation import prepare_dataset
from nary.runs.run_folder import RunFolder, load_model
from nary.runs.trained_model import TrainedModel
from nary.runs.training import InterruptedRun, TrainingResult, resume, train_or_resume, train_recipe

__all__ = [
    "BlendResult",
    "InterruptedRun",
    "RunFolder",
    "TrainedModel",
    "TrainingResult",
    "blend_runs",
    "fit_epochs",
    "load_model",
    "prepare_dataset",
    "resume",
    "start_blend",
    "train_or_resume",
    "train_recipe",
]
