"""The tables of the page in Markdown."""

from collections.abc import Sequence
from math import isnan
from statistics import mean

from nary.apps.results.own import Own
from nary.apps.results.published import MEASURES, Figures, Published

_LARGE = 0.02
"""A difference to the published MRR that wants an explanation."""
_HEAD = (
    *("recipe", "MRR", "Hits@1", "Hits@10", "published MRR", "Hits@1", "Hits@10", "source", "difference"),
    *("seeds", "protocol", "seconds", "files"),
)


def comparison(group: str, rows: Sequence[Own], published: dict[str, Figures], notes: "Notes") -> list[str]:
    """Systems beside their published figures, the best first; those without a result of ours in italics."""
    ranked = [(mean(row.values(group, "mrr")), _own_cells(group, row, published, notes)) for row in rows]
    missing = published.keys() - {row.system for row in rows}
    ranked += [(published[system].values[0], _published_cells(system, published[system])) for system in missing]
    ranked.sort(key=lambda one: (-one[0], one[1]))
    lines = markdown(_HEAD, [cells for _, cells in ranked])
    return [*lines, *notes.below(group, rows, published)]


def breakdown(dataset: str, groups: Sequence[str], rows: Sequence[Own], published: Published) -> list[str]:
    """The MRR of several groups side by side, the published one in brackets."""
    groups = [group for group in groups if any(row.values(group, "mrr") for row in rows)]
    known = {group: published.on(dataset, group) for group in groups}
    body = []
    for row in rows:
        cells = []
        for group in groups:
            theirs = known[group].get(row.system)
            cells.append(row.figure(group, "mrr") + (f" ({theirs.values[0]:.3f})" if theirs else ""))
        body.append([_named(row), *cells, row.links()])
    return markdown(["recipe", *groups, "files"], body)


class Notes:
    """What stands around the tables: protocols by letter, and explanations."""

    def __init__(self, explained: dict[str, str]) -> None:
        self.protocols: list[str] = []
        self._explained = explained

    def letter(self, protocol: str) -> str:
        """The letter of a protocol, a new one for one not met before."""
        if protocol not in self.protocols:
            self.protocols.append(protocol)
        return _letter(self.protocols.index(protocol))

    def legend(self) -> list[str]:
        """All protocols met, with their letters."""
        return [f"- {_letter(number)}: {protocol}." for number, protocol in enumerate(self.protocols)]

    def below(self, group: str, rows: Sequence[Own], published: dict[str, Figures]) -> list[str]:
        """Explanations of large differences, and remarks on published figures."""
        lines = []
        for row in rows:
            difference = _difference(group, row, published)
            if difference is not None and abs(difference) > _LARGE:
                why = self._explained.get(row.name, "not explained yet")
                lines.append(f"- {_named(row)}, {signed(difference)}: {why}.")
        lines += [f"- {system}, published: {own.remark}." for system, own in sorted(published.items()) if own.remark]
        return ["", *lines] if lines else []


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table."""
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def signed(difference: float) -> str:
    """With its sign."""
    return f"{difference:+.3f}".replace("-", "−")


def _own_cells(group: str, row: Own, published: dict[str, Figures], notes: Notes) -> list[str]:
    theirs = published.get(row.system)
    difference = _difference(group, row, published)
    return [
        _named(row),
        *(row.figure(group, measure) for measure in MEASURES),
        *([_figure(value) for value in theirs.values] if theirs else [""] * len(MEASURES)),
        theirs.source if theirs else "",
        "" if difference is None else signed(difference),
        str(len(row.results)),
        notes.letter(row.protocol),
        "" if row.seconds is None else f"{row.seconds:,.0f}",
        row.links(),
    ]


def _published_cells(system: str, theirs: Figures) -> list[str]:
    figures = [_figure(value) for value in theirs.values]
    return [f"*{system}*", *["–"] * len(MEASURES), *figures, theirs.source, *[""] * 5]


def _difference(group: str, row: Own, published: dict[str, Figures]) -> float | None:
    """Of the MRRs as they are shown."""
    theirs = published.get(row.system)
    return None if theirs is None else round(round(mean(row.values(group, "mrr")), 3) - theirs.values[0], 3)


def _figure(value: float) -> str:
    return "–" if isnan(value) else f"{value:.3f}"


def _named(row: Own) -> str:
    return f"`{row.name}`" + (" †" if row.outdated else "")


def _letter(number: int) -> str:
    return chr(ord("A") + number)
