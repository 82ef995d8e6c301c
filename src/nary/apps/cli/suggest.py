"""``nary suggest``: which qualifiers a fact may lack."""

from nary.apps.cli.options import Answers, Device, Json, RunPath, Threads, WholeFact
from nary.apps.cli.output import notice, print_json, print_table


def suggest(
    run: RunPath,
    fact: WholeFact,
    k: Answers = 10,
    device: Device = "auto",
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Suggest qualifiers that a fact does not have yet, most probable first.

    Example: nary suggest runs/nobel-gran "Marie Curie | award received | Nobel Prize in Physics | point in time: 1903"
    """
    from nary.runs import load_model

    suggested = load_model(run, device).suggest(fact, k)
    if json:
        print_json(suggested.as_dict())
        return
    for note in suggested.notes:
        notice(note)
    rows = [[one.attribute_label, one.value_label, f"{one.probability:.1%}"] for one in suggested.suggestions]
    print_table(suggested.fact, ["attribute", "value", "probability"], rows)
