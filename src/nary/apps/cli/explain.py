"""``nary explain``: why a model gives an answer."""

from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.options import Device, Json, RunPath, Threads, WholeFact
from nary.apps.cli.output import known_by, notice, print_json, print_table, say
from nary.wording import counted

if TYPE_CHECKING:
    from nary.inference.explanation_results import Contribution, Explanation, RuleReason

_BAR = 20
_EDGES = 6


def explain(
    run: RunPath,
    fact: WholeFact,
    position: Annotated[
        str,
        typer.Option("--position", metavar="POSITION", help="The answer: relation, subject, object, attribute 1, ..."),
    ] = "object",
    device: Device = "auto",
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Explain the prediction of an element of a fact: contributions of the other elements, and similar known facts.

    With rules, it also shows the rules and facts that predict the answer; with a blend, the prediction of each part.

    Example: nary explain runs/nobel-gran "Niels Bohr | country of citizenship | Denmark" --position object
    """
    from nary.runs import load_model

    explanation = load_model(run, device).explain(fact, position)
    print_json(explanation.as_dict()) if json else _print(explanation)


def _print(explanation: "Explanation") -> None:
    for note in explanation.notes:
        notice(note)
    say(explanation.fact, bold=True)
    say(f"{explanation.position}: {explanation.label}   {explanation.probability:.1%}, rank {explanation.rank:,g}")
    say(f"known from {known_by(explanation, explanation.fact)}\n" if explanation.known else "not stored\n")
    if explanation.contributions:
        most = max(abs(one.contribution) for one in explanation.contributions) or 1.0
        rows = [
            [one.position, one.label, f"{one.contribution:+.2f}", _bar(one, most), f"{one.probability_without:.1%}"]
            for one in explanation.contributions
        ]
        print_table(
            "Contribution of each element to the score", ["position", "element", "contribution", "", "without it"], rows
        )
        say()
    if explanation.rules:
        say("Rules that predict the answer", bold=True)
        for reason in explanation.rules:
            say(f"because {reason_text(reason)}")
        say()
    if explanation.parts:
        votes = [[one.model, f"{one.weight:.0%}", f"{one.probability:.1%}", one.rank] for one in explanation.parts]
        print_table("Parts of the blend", ["part", "weight", "probability", "rank"], votes)
        say()
    if explanation.supporting:
        facts = [[f"{one.similarity:.3f}", one.answer, one.label] for one in explanation.supporting]
        print_table("Similar training facts", ["cosine", "answer", "fact"], facts)
        say()
    if explanation.attention:
        edges = sorted(explanation.attention, key=lambda edge: -edge.weight)[:_EDGES]
        looks = [[edge.source, edge.target, f"{edge.weight:.1%}"] for edge in edges]
        print_table("Attention weights", ["from", "to", "weight"], looks)


def reason_text(reason: "RuleReason") -> str:
    """The facts behind an answer, and how often the rule holds."""
    facts = " and ".join(fact.label for fact in reason.facts)
    share = reason.support / max(1, reason.cases)
    are = "is" if len(reason.facts) == 1 else "are"
    return f"{facts} {are} known; holds in {share:.0%} of {counted(reason.cases, 'case')}"


def _bar(one: "Contribution", most: float) -> str:
    """The size of a contribution; what speaks against the answer is hatched."""
    return ("█" if one.contribution > 0 else "░") * max(1, round(_BAR * abs(one.contribution) / most))
