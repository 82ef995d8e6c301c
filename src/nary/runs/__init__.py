"""Runs: where data, model, training and evaluation meet."""

from nary.runs.run_folder import RunFolder, load_model
from nary.runs.trained_model import TrainedModel
from nary.runs.training import InterruptedRun, TrainingResult, prepare_dataset, resume, train_or_resume, train_recipe

__all__ = [
    "InterruptedRun",
    "RunFolder",
    "TrainedModel",
    "TrainingResult",
    "load_model",
    "prepare_dataset",
    "resume",
    "train_or_resume",
    "train_recipe",
]
