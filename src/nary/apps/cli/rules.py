"""``nary rules``: the rules of a model."""

from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.options import Json, RunPath
from nary.apps.cli.output import print_json, say
from nary.wording import counted

if TYPE_CHECKING:
    from nary.inference.explanation_results import Rule


def rules(
    run: RunPath,
    relation: Annotated[
        str | None, typer.Option("--relation", metavar="NAME", help="Only rules for queries about this relation.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="KIND", help="same, link, constant, pair or chain.")
    ] = None,
    role: Annotated[
        str | None,
        typer.Option("--role", metavar="ROLE", help="Only rules that predict this role: subject, object, value, ..."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", help="How many rules to list, most confident first.")
    ] = 20,
    json: Json = False,
) -> None:
    """List the rules of a rules model, or of the rules in a blend, with support, confidence and an example.

    Example: nary rules runs/nobel-rules --relation "award received" --role object
    """
    from nary.runs import load_model

    listed = load_model(run, "cpu").rules(relation, kind, role, limit)
    if json:
        print_json(listed.as_dict())
        return
    for rule in listed.rules:
        _print(rule)
    about = "" if listed.relation is None else f" about {listed.relation}"
    say(f"The {len(listed.rules):,} most confident rules{about}, of {listed.total:,} in all.")


def _print(rule: "Rule") -> None:
    answer = "" if rule.answer is None else f" is {rule.answer}"
    say(f"{rule.target}{answer}", bold=True, nl=False)
    say(f"   [{rule.kind}] {rule.body}")
    say(f"    confidence {rule.confidence:.3f}: holds in {rule.support:,} of {counted(rule.cases, 'case')}")
    if rule.example is not None:
        known = "is known" if len(rule.example.because) == 1 else "are known"
        because = " and ".join(fact.label for fact in rule.example.because)
        say(f"    such as {rule.example.fact.label}, because {because} {known}")
    say()
