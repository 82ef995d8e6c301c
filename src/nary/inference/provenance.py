"""What was added to a model after its training."""

from pydantic import Field

from nary.config import Settings
from nary.wording import counted


class Update(Settings):
    """Facts that were added to a trained model, with the names that were new to it."""

    fingerprint: str
    """That of the dataset before."""
    facts: int = Field(ge=0)
    entities: int = Field(ge=0)
    relations: int = Field(ge=0)

    def __str__(self) -> str:
        entities = counted(self.entities, "new entity", "new entities")
        return f"{counted(self.facts, 'fact')} with {entities} and {counted(self.relations, 'new relation')}"
