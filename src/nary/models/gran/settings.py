"""The settings of GRAN; the defaults are the published ones."""

from typing import Literal

from pydantic import Field

from nary.config import Settings


class GranSettings(Settings):
    """``[model]`` of a recipe for GRAN. Everything below ``dropout`` is an option the published model does not have."""

    name: Literal["gran"] = "gran"
    variant: Literal["hete", "homo", "complete"] = "hete"
    """Edges of four types, of one, or none."""
    num_layers: int = Field(12, ge=1)
    num_heads: int = Field(4, ge=1)
    """Of the attention; they share the width evenly."""
    hidden_dim: int = Field(256, ge=1)
    """Of every vector."""
    ffn_dim: int = Field(512, ge=1)
    """The width inside the feed-forward network of a layer."""
    dropout: float = Field(0.1, ge=0, lt=1)
    role_embeddings: Literal["none", "role", "position"] = "none"
    """Also embed the role of each vertex, or its position (role and number of the qualifier)."""
    edge_bias: Literal["shared", "per-head", "per-layer"] = "shared"
    """Whether all layers and heads share the biases of the edge types."""
    edge_bias_on: Literal["both", "key", "value", "none"] = "both"
    """To which of keys and values the biases are added."""
    pair_edges: bool = False
    """Give the pairs of vertices that are not joined, and a vertex with itself, types of their own."""
    norm: Literal["post", "pre"] = "post"
    """Where the layer norm stands: after a residual, or before what is added."""
    tie_embeddings: bool = True
    """Score with the embeddings of the candidates, not with a table of their own."""
    head: Literal["code", "equation"] = "code"
    """The prediction layer as the published code has it, or as the paper prints it, without GELU and LayerNorm."""
