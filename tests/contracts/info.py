"""Dataset information for models in tests."""

from nary.facts import FactTable
from nary.models.base import DatasetInfo


def info_of(entities: int = 0, relations: int = 0, max_arity: int = 2, facts: FactTable | None = None) -> DatasetInfo:
    """Sizes, and facts only for those models that look at them."""
    return DatasetInfo(entities, relations, max_arity, facts or FactTable([]))
