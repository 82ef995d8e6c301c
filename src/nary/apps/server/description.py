"""What model is served, in numbers."""

from nary.apps.server.responses import Counts, ModelDescription
from nary.runs import Run
from nary.version import __version__


def describe(run: Run) -> ModelDescription:
    """The description of ``run``."""
    data = run.dataset
    return ModelDescription(
        name=run.model.name,
        settings=run.settings.model_dump(mode="json"),
        parameters=sum(one.numel() for one in run.model.parameters()),
        dataset=data.name,
        counts=Counts(
            entities=len(data.vocabulary.entities),
            relations=len(data.vocabulary.relations),
            facts={split: len(table) for split, table in data.splits.items()},
            arities=data.facts.arities,
        ),
        predicts=sorted(run.model.roles, key=lambda role: role.value),
        calibrated=run.predictor.calibrated,
        metrics=[report.as_dict() for report in run.reports],
        version=__version__,
    )
