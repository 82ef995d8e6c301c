"""``nary suggest``: qualifiers that a fact may lack."""

from nary.apps.cli.options import Answers, Device, Json, KnownAnswer, KnownOption, RunPath, Threads, WholeFact
from nary.apps.cli.output import known_by, notice, print_json, print_table


def suggest(
    run: RunPath,
    fact: WholeFact,
    k: Answers = 10,
    known: KnownOption = KnownAnswer.first,
    device: Device = "auto",
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Suggest qualifiers that may be missing from a fact: known ones from stored facts, then the most probable ones.

    A qualifier is known if a stored fact contains the fact with this qualifier; that fact is shown.

    Example: nary suggest runs/nobel-gran "Marie Curie | award received | Nobel Prize in Physics | point in time: 1903"
    """
    from nary.runs import load_model

    suggested = load_model(run, device).suggest(fact, k, known.value)
    if json:
        print_json(suggested.as_dict())
        return
    for note in suggested.notes:
        notice(note)
    rows = [
        [one.attribute_label, one.value_label, f"{one.probability:.1%}", known_by(one)] for one in suggested.suggestions
    ]
    print_table(suggested.fact, ["attribute", "value", "probability", "known from"], rows)
