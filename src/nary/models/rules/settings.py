"""The settings of the rules."""

from typing import Literal

from pydantic import Field

from nary.config import Settings


class RulesSettings(Settings):
    """``[model]`` of a recipe for the rules."""

    name: Literal["rules"] = "rules"
    prior: float = Field(5.0, ge=0)
    """Added to the body count of every rule: confidence = support / (body + prior)."""
    min_support: int = Field(2, ge=1)
    """Rules with less support are dropped."""
    min_confidence: float = Field(0.005, ge=0, le=1)
    """Rules with less confidence are dropped."""
    max_degree: int = Field(100, ge=1)
    """Entities with more links of a type are hubs: rules do not pass through them."""
    chains: bool = True
    """Whether to count rules whose body is a chain of two links."""
    joint_features: bool = False
    """Whether to count rules about two elements of one fact together: the employer and the department."""
    fit_weights: bool = True
    """Whether to fit how much the rules of each head count, on a sample of the facts."""
