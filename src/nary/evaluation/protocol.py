"""The evaluation protocol: all settings that affect metrics. It is part of every report."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from nary.config import Settings

FilterRule = Literal["slots", "order-free", "primary", "none"]
Ties = Literal["mean", "optimistic", "pessimistic"]
_Split = Literal["train", "valid", "test", "context"]
_Role = Literal["relation", "subject", "object", "attribute", "value"]


class Protocol(Settings):
    """``[evaluation]`` of a recipe; the defaults are the published rules of GRAN, with fair ties."""

    filter: FilterRule = "slots"
    """Which facts provide other known answers to a query, which are removed from the ranking.

    ``slots``: facts that agree in all other elements, slot by slot; qualifiers are sorted before masking.
    ``order-free``: facts that agree in all other elements; the position of the missing element among the qualifiers is
    ignored.
    ``primary``: if the missing element is in the primary triple, facts that agree in the other two elements of the
    triple, ignoring qualifiers; otherwise as ``slots``.
    ``none``: no facts.
    """
    filter_splits: list[_Split] = Field(default=["train", "valid", "test"])
    """The splits to search for known answers; splits that a dataset does not have are ignored."""
    ties: Ties = "mean"
    """Which rank an answer gets among candidates with the same score: the mean, the best or the worst."""
    candidates: Literal["all", "seen"] = "all"
    """Rank subjects and objects against all entities, or only against the entities that occur as subject or object of a
    fact in any split. Values are always ranked against all entities; relations and attributes against all relations."""
    positions: list[_Role] = Field(default=[])
    """The roles to evaluate; by default, all that the model can predict."""
    given: Literal["all", "none", "curve"] | Annotated[int, Field(ge=0)] = "all"
    """How many qualifiers a query gives besides the one with the masked element: all, none, or at most a number. The
    choice is fixed for each fact. If not all are given, every fact that contains the completed query counts as a known
    answer, unless ``filter`` is ``none``. ``curve``: all, and also 0, 1 and 2 for queries with a qualifier to leave
    out."""
    memory: int = Field(default=1 << 27, ge=1)
    """The maximum number of bytes for scores in memory. It does not affect metrics."""

    @field_validator("given", mode="before")
    @classmethod
    def _name_zero(cls, given: object) -> object:
        return "none" if given == 0 and given is not False else given

    @property
    def asks_entities(self) -> bool:
        """Whether the protocol ranks entities."""
        return not self.positions or not {"subject", "object", "value"}.isdisjoint(self.positions)

    def without_curve(self) -> "Protocol":
        """The same protocol with all qualifiers given instead of a curve, for validation."""
        return self.model_copy(update={"given": "all"}) if self.given == "curve" else self

    def describe(self) -> str:
        """The protocol as one line of text, to print below a table."""
        rule = self.filter if self.filter == "none" or self.given in ("all", "curve") else "containment"
        splits = f" ({', '.join(self.filter_splits)})" if rule != "none" else ""
        parts = [f"filter {rule}{splits}", f"ties {self.ties}", f"candidates {self.candidates}"]
        parts.append(f"positions {', '.join(self.positions) or 'all'}")
        if self.given == "curve":
            parts.append("also with fewer qualifiers given, filter containment")
        elif self.given != "all":
            parts.append(f"given {self.given}")
        return f"Protocol: {'; '.join(parts)}."

    def as_dict(self) -> dict[str, Any]:
        """The settings that affect metrics, for JSON; without ``given`` if it is ``all``, as in the published rules."""
        return self.model_dump(exclude={"memory", *(["given"] if self.given == "all" else [])})
