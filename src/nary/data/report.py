"""What became of the lines of an input."""

from dataclasses import dataclass, field

PROBLEMS_KEPT = 10


@dataclass(frozen=True)
class Problem:
    """A line (or row) that is not a fact."""

    line: int
    reason: str
    message: str
    hint: str | None = None


@dataclass
class ReadReport:
    """What became of one input: lines read, kept, blank and skipped by reason, and the first offending lines."""

    source: str
    format: str
    lines: int = 0
    kept: int = 0
    blank: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def skip(self, problem: Problem) -> None:
        """Count a line that is left out."""
        self.skipped[problem.reason] = self.skipped.get(problem.reason, 0) + 1
        if len(self.problems) < PROBLEMS_KEPT:
            self.problems.append(problem)

    def __str__(self) -> str:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.skipped.items())
        first = self.problems[0]
        return (
            f"{self.source}: {self.kept:,} facts kept, {sum(self.skipped.values()):,} lines skipped ({reasons}); "
            f"the first is line {first.line}: {first.message}"
        )
