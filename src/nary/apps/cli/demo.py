"""``nary demo``: a first look at n-ary facts."""

import typer

from nary.apps.cli.output import print_table


def demo() -> None:
    """Show the dataset that comes with Nary: Nobel prizes, their laureates and their lives.

    Example: nary demo
    """
    from nary.data.load import load
    from nary.data.statistics import counts

    data = load("nobel")
    found = counts(data)
    facts = sum(found["facts"].values())
    typer.echo(f"nobel: {facts:,} facts about {found['entities']:,} entities with {found['relations']:,} relations.\n")
    typer.echo("A fact is a subject, a relation, an object, and any number of qualifiers:\n")
    names = data.vocabulary
    largest = {block.arity: next(iter(data.facts.take(block.rows[:1]).facts(names))) for block in data.facts.blocks}
    for fact in largest.values():
        typer.echo(f"  {fact}")
    typer.echo()
    print_table("Facts by arity", ["arity", "facts"], [[int(arity), n] for arity, n in found["arities"].items()])
    typer.echo("\nNext: nary datasets, nary stats nobel, nary check nobel, nary convert nobel nobel.jsonl")
