"""The command, run as the shell runs it, and what came of it."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple


class Outcome(NamedTuple):
    """Exit code, standard output, standard error."""

    code: object
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one line of JSON."""
        assert self.code in (0, 1), self.err  # 1: a check that failed, and says so
        assert self.out.count("\n") == 1
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        """The error under --json."""
        assert self.out == ""
        return json.loads(self.err)["error"]


Nary = Callable[..., Outcome]
