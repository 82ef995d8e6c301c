"""Save a training whose run folder was removed while it ran."""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

from nary.errors import OutputError
from nary.runs.run_folder import RunFolder
from nary.runs.trained_model import TrainedModel
from nary.training.checkpoint import Checkpoints
from nary.training.trainer import Trainer, TrainingError


def rescue(model: TrainedModel, trainer: Trainer, lost: RunFolder) -> TrainingError:
    """Write a new run folder with the last step, from which training can go on; the error to raise says where it is.

    The log and the best weights so far are lost with the old folder.
    """
    state = replace(trainer.state, best=None, best_step=0, since_best=0)
    for path in _places(lost.path):
        try:
            folder = RunFolder.create(path, model.dataset, model.recipe)
            if state.step:
                Checkpoints(folder.checkpoints_path).save(trainer.model, trainer.optimizer, state)
        except OutputError:
            continue
        hint = f"Step {state.step} is saved: nary train --resume {path}"
        return TrainingError(f"{lost} was removed, or replaced, during the training", hint)
    return TrainingError(f"{lost} was removed during the training", "Nothing could be saved elsewhere.")


def _places(path: Path) -> Iterator[Path]:
    """Where to write, best first: beside the old folder, or among the temporary files of the system."""
    names = (f"{path.name}-rescued" + (f"-{number}" if number > 1 else "") for number in count(1))
    yield next(place for name in names if not (place := path.with_name(name)).exists())
    yield Path(tempfile.mkdtemp(prefix="nary-")) / path.name
