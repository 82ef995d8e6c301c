"""Registries: components by name, built in, registered in Python, or found in installed packages.

A package adds a component without any code of ours by an entry point, for example in its ``pyproject.toml``::

    [project.entry-points."nary.models"]
    my-model = "my_package:MyModel"

Built-in components and entry points are imported when they are first asked for.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from nary.errors import SettingError, did_you_mean

Component = TypeVar("Component")


class Registry(Generic[Component]):
    """The components of one kind (``"model"``), whose entry points are in the group ``nary.models``.

    ``built_in`` maps names to ``"module:attribute"``.
    """

    def __init__(self, kind: str, built_in: Mapping[str, str]) -> None:
        self.kind = kind
        self.group = f"nary.{kind}es" if kind.endswith("s") else f"nary.{kind}s"
        self._built_in = built_in
        self._registered: dict[str, Component] = {}

    def __iter__(self) -> Iterator[str]:
        """The names: built-in ones in their order, then the others sorted."""
        others = {*self._registered, *self._entry_points} - {*self._built_in}
        yield from (*self._built_in, *sorted(others))

    def __contains__(self, name: object) -> bool:
        return name in self._built_in or name in self._registered or name in self._entry_points

    def register(self, name: str) -> Callable[[Component], Component]:
        """A decorator that adds a component; a name that is taken is an error."""

        def add(component: Component) -> Component:
            # A package may also name a decorated component as its entry point, so those are not taken names.
            if name in self._built_in or self._registered.get(name, component) is not component:
                raise SettingError(f"a {self.kind} named {name!r} exists already", "Choose another name.")
            self._registered[name] = component
            return component

        return add

    def get(self, name: str) -> Component:
        """The component of that name; an error that lists the nearest names if there is none."""
        if name in self._registered:
            return self._registered[name]
        if name in self._built_in:
            module, _, attribute = self._built_in[name].partition(":")
            component: Component = getattr(import_module(module), attribute)
        elif name in self._entry_points:
            component = self._loaded(self._entry_points[name])
        else:
            raise SettingError(f"unknown {self.kind} {name!r}", did_you_mean(name, self))
        return self._registered.setdefault(name, component)

    @cached_property
    def _entry_points(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=self.group)}

    def _loaded(self, point: EntryPoint) -> Component:
        try:
            component: Component = point.load()
        except Exception as error:
            raise SettingError(
                f"the {self.kind} {point.name!r} of the package {point.value!r} cannot be imported: {error}",
                "Update or remove that package.",
            ) from error
        return component
