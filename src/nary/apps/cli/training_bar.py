"""Live progress of training, after a note if the machine is busy."""

from typing import Self

from nary.apps.cli.output import notice
from nary.threads import oversubscription_note
from nary.training import training_bar


class TrainingBar(training_bar.TrainingBar):
    """The bar of the library, with the note."""

    def __enter__(self) -> Self:
        import torch  # slow, so not before it is needed

        if note := oversubscription_note(torch.get_num_threads()):
            notice(note)
        return super().__enter__()
