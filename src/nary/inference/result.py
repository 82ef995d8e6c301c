"""What the results of a predictor have in common: a sequence of items, as JSON, as a data frame, and for people."""

from collections.abc import Iterator, Mapping
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

if TYPE_CHECKING:
    import polars

_Item = TypeVar("_Item", covariant=True)


class AsDict:
    """Gives a dataclass its JSON form."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: _plain(value) for name, value in vars(self).items()}


class Result(AsDict, Generic[_Item]):
    """Gives a result dataclass iteration over the sequence it holds, tables and data frames."""

    _items: ClassVar[str]
    """The field with the sequence."""

    def __iter__(self) -> Iterator[_Item]:
        return iter(getattr(self, self._items))

    def __len__(self) -> int:
        return len(getattr(self, self._items))

    def __getitem__(self, place: int) -> _Item:
        return getattr(self, self._items)[place]

    def to_polars(self) -> "polars.DataFrame":
        """A data frame with a row for each item; frames of equal results can be concatenated."""
        from nary.inference.frames import result_frame

        return result_frame(self)

    def to_pandas(self) -> Any:
        """The same as :meth:`to_polars`, for pandas, which must be installed."""
        from nary.data.frames import as_pandas

        return as_pandas(self.to_polars())

    def __repr__(self) -> str:
        about = next(iter(vars(self).values()))
        return f"{type(self).__name__}({about!r}: {self._gist()})"

    def _gist(self) -> str:
        """What is most worth knowing, in a few words."""
        return f"{len(self)} {self._items}"

    def __str__(self) -> str:
        from nary.inference.display import result_text

        return result_text(self)

    def _repr_html_(self) -> str:
        from nary.inference.display import result_html

        return result_html(self)


_SEQUENCES = (list, tuple)
_PLAIN = (str, float, int, NoneType)


def _plain(value: Any) -> Any:
    """Like ``dataclasses.asdict``, in a fraction of the time."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, _SEQUENCES):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return {name: _plain(item) for name, item in vars(value).items()}
