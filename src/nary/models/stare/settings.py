"""The settings of STARE; the defaults are the published ones, except that it predicts all positions."""

from typing import Literal

from pydantic import Field

from nary.config import Settings


class StareSettings(Settings):
    """``[model]`` of a recipe for STARE."""

    name: Literal["stare"] = "stare"
    variant: Literal["graph", "transformer"] = "graph"
    """With the graph encoder, or the Transformer alone over plain embeddings."""
    predicts: Literal["all", "subject-object"] = "all"
    """What the model learns and answers: every position, or as published subjects and objects only."""
    hidden_dim: int = Field(200, ge=2)
    num_graph_layers: int = Field(2, ge=1)
    relation_weight: float = Field(0.8, ge=0, le=1)
    """How much of an edge is its relation; the rest are its qualifiers."""
    degree_norm: Literal["received", "both"] = "received"
    """What the messages between two entities are divided by: the root of the number of messages that each of them
    receives in that direction, as published, so that who receives none sends none; or of those the one receives and
    the other sends."""
    message_dropout: float = Field(0.1, ge=0, lt=1)
    """Of the messages an entity has received."""
    graph_dropout: float = Field(0.3, ge=0, lt=1)
    """Of the entities after each layer of the graph encoder."""
    num_layers: int = Field(2, ge=1)
    """Of the Transformer, like all that follow."""
    num_heads: int = Field(4, ge=1)
    ffn_dim: int = Field(512, ge=1)
    dropout: float = Field(0.1, ge=0, lt=1)
    position_init_std: float = Field(1.0, gt=0)
    """The deviation that the vectors of positions start with. Without the graph encoder, whose vectors are about as
    large as the published 1, it may hide the small embeddings of entities for long."""
    pooling: Literal["padded-mean", "mean"] = "padded-mean"
    """Read subjects and objects from the mean over the sequence, padding included as published, or left out."""
    padded_qualifiers: int = Field(6, ge=0)
    """Sequences are padded to this number of qualifiers; longer ones stay as they are."""

    @property
    def padding(self) -> int:
        """How many rows for padding the tables of entities and relations have."""
        return int(self.pooling == "padded-mean")
