"""What was added to a model after its training."""

from pydantic import Field

from nary.config import Settings


class Update(Settings):
    """Facts that were added to a trained model, with the names that were new to it."""

    fingerprint: str
    """That of the dataset before."""
    facts: int = Field(ge=0)
    entities: int = Field(ge=0)
    relations: int = Field(ge=0)

    def __str__(self) -> str:
        return f"{self.facts:,} facts with {self.entities:,} new entities and {self.relations:,} new relations"
