"""``nary stats``: statistics of a dataset."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.options import Data, Format, Json, OnError, OnErrorOption
from nary.apps.cli.output import notice, open_data, print_json, print_table, say

if TYPE_CHECKING:
    from nary.data.statistics import Statistics


def stats(
    data: Data,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Also draw a picture, FILE.png or FILE.svg.")
    ] = None,
    format: Format = None,
    on_error: OnErrorOption = OnError.stop,
    as_json: Json = False,
) -> None:
    """Count facts, entities and relations, and show arities, qualifiers and the most frequent names.

    Example: nary stats jf17k --plot jf17k.png
    """
    from nary.data.statistics import statistics

    summary = statistics(open_data(data, format, on_error, quiet=as_json))
    if plot is not None:
        from nary.apps.plots import plot_statistics

        plot_statistics(summary, plot)
        notice(f"drew {plot}")
    print_json(summary.as_dict()) if as_json else _print(summary)


def _print(summary: "Statistics") -> None:
    counts, qualifiers, degree = summary.counts, summary.qualifiers, summary.degree
    total = sum(counts["facts"].values())
    rows = [["facts", total], *([f"  {split}", n] for split, n in counts["facts"].items())]
    rows += [["entities", counts["entities"]], ["relations", counts["relations"]]]
    rows += [["  as the relation of a fact", summary.primary_relations], ["  as an attribute", summary.attributes]]
    rows += [["facts with qualifiers", qualifiers["facts_with"]]]
    print_table(counts["name"], ["", "number"], rows)
    say(f"Qualifiers per fact: {qualifiers['per_fact_mean']:.2f} on average.")
    say(
        f"Facts per entity: {degree['mean']:,.1f} on average, {degree['median']:,.0f} for the median entity, at most "
        f"{degree['max']:,}; {degree['once']:,} entities occur in a single fact.\n"
    )
    shares = [[int(arity), n, f"{n / total:>6.1%}"] for arity, n in counts["arities"].items()]
    print_table("Arities", ["arity", "facts", "share"], shares)
    for kind, names in (("relation", summary.top_relations), ("attribute", qualifiers["top_attributes"])):
        if names:
            say()
            print_table(f"Most frequent {kind}s", [kind, "number"], [[_shown(summary, name), n] for name, n in names])


def _shown(summary: "Statistics", name: str) -> str:
    """The name, with its label if it has one."""
    label = summary.labels.get(name)
    return f"{name} ({label})" if label and label != name else name
