"""The evaluation protocol: every setting that changes metrics. It is part of every report."""

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
    """Which facts count as other known answers to a query, and so do not stand in the way of the right one.

    ``slots``: all other elements are equal, place by place, with qualifiers sorted before the gap is made.
    ``order-free``: all other elements are equal; the place of the gap among the qualifiers does not matter.
    ``primary``: for a gap in the primary triple its other two elements are equal, whatever the qualifiers; for a gap in
    a qualifier like ``slots``.
    ``none``: no fact.
    """
    filter_splits: list[_Split] = Field(default=["train", "valid", "test"])
    """Where to look for known answers; splits a dataset does not have are passed over."""
    ties: Ties = "mean"
    """Which rank an answer gets among candidates with the same score: the mean, the best or the worst."""
    candidates: Literal["all", "seen"] = "all"
    """Rank subjects and objects against all entities, or only against those seen as one: subject or object of some fact
    of some split. Values are always ranked against all entities, relations and attributes against all relations."""
    positions: list[_Role] = Field(default=[])
    """The roles to ask for; none named: all that the model can predict."""
    given: Literal["all", "none", "curve"] | Annotated[int, Field(ge=0)] = "all"
    """How many qualifiers a query gives besides that of the masked element: all, none, or at most a number; which ones
    is a fixed choice for each fact. With fewer than all, every fact that contains the completed query counts as known,
    unless ``filter`` is ``none``. ``curve``: all, and then 0, 1 and 2 for the queries that have any to leave out."""
    memory: int = Field(default=1 << 27, ge=1)
    """The largest number of bytes of scores held at a time. It changes no figure."""

    @field_validator("given", mode="before")
    @classmethod
    def _name_zero(cls, given: object) -> object:
        return "none" if given == 0 and given is not False else given

    @property
    def asks_entities(self) -> bool:
        """Whether the protocol ranks entities."""
        return not self.positions or not {"subject", "object", "value"}.isdisjoint(self.positions)

    def without_curve(self) -> "Protocol":
        """The same protocol with everything given instead of a curve, for validation."""
        return self.model_copy(update={"given": "all"}) if self.given == "curve" else self

    def describe(self) -> str:
        """One line of text, to print below a table."""
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
        """The settings that change metrics, for JSON; without ``given`` if all is given, as in the published rules."""
        return self.model_dump(exclude={"memory", *(["given"] if self.given == "all" else [])})
