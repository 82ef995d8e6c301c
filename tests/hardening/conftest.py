"""The command, as the tests of commands run it."""

from apps.conftest import nary

__all__ = ["nary"]
