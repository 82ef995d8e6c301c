"""``nary demo``: a tour on the embedded dataset, in a few minutes."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.blend import print_parts
from nary.apps.cli.output import notice, print_table, say
from nary.apps.cli.serve import require_server, say_address
from nary.apps.cli.training_bar import TrainingBar
from nary.errors import MissingExtraError
from nary.progress import progress_bar

if TYPE_CHECKING:
    from nary.inference.results import Answer
    from nary.runs import RunFolder, TrainedModel

_STORED = (
    "Marie Curie | award received | ? | point in time: 1911",
    "? | award received | Nobel Prize in Physics | point in time: 1921",
)
"""Questions whose answers are in train, asked with part of the fact."""
_UNSEEN = (
    "C. V. Raman | award received | ?",
    "Ernest Hemingway | award received | ?",
    "Jean-Paul Sartre | country of citizenship | ?",
    "John Forbes Nash Jr. | award received | ? | point in time: 1994",
)
"""Questions whose answers are in test, so the model must predict them."""
_MARK = ".demo"
"""Marks the folder of a demo, which another demo may replace."""


def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="The folder for the run and the pictures.")
    ] = Path("nary-demo"),
    minutes: Annotated[float | None, typer.Option("--minutes", metavar="M", help="Train for about M minutes.")] = None,
    serve: Annotated[bool, typer.Option("--serve", help="Then open the explorer with the model.")] = False,
) -> None:
    """Train models on Nobel prizes, blend them, evaluate the blend on unseen facts, answer questions and draw a fact.

    Example: nary demo
    """
    from nary.data.load import load
    from nary.recipe import choose_recipe
    from nary.runs import fit_epochs, prepare_dataset, train_recipe
    from nary.runs.blend_training import BlendResult

    if serve:
        require_server()  # now, not after the training
    recipe = choose_recipe("nobel", "blend")
    data = prepare_dataset(load("nobel"), recipe)
    if minutes is not None:
        recipe = fit_epochs(data, recipe, minutes)
    say(f"nobel: {len(data):,} facts about Nobel prizes and laureates, such as")
    fact = next(fact for fact in data.train.facts(data.vocabulary) if fact.arity == 7)
    say(f"  {fact}\n")
    _clear(out)
    out.mkdir(parents=True, exist_ok=True)
    (out / _MARK).touch()
    with TrainingBar(show=True) as bar:
        result = train_recipe(data, recipe, out / "run", [bar])
    if not isinstance(result, BlendResult):
        raise AssertionError("the recipe of the demo is a blend")
    print_parts(result)
    model = result.model
    _evaluate(model)
    _ask(model)
    _draw(result.run_folder, out, str(fact))
    say(f'\nNext:\n  nary predict {out}/run "Ada Yonath | award received | ?"')
    say(f"  nary serve {out}/run --open\n  nary evaluate {out}/run")
    say("  nary train FACTS.jsonl      on your own facts; see docs/guide.md")
    if serve:
        _serve(model)


def _serve(model: "TrainedModel") -> None:
    from nary.apps.server.app import ServeOptions, start

    say()
    start(lambda: model, ServeOptions(port=0, open=True), say_address)  # any free port: the training is not to be lost


def _clear(out: Path) -> None:
    """Remove what an earlier demo left; anything else in the way is an error of training."""
    if (out / _MARK).is_file() and (out / "run").is_dir():
        shutil.rmtree(out / "run")


def _evaluate(model: "TrainedModel") -> None:
    with progress_bar("Ranking", show=True) as progress:
        report = model.evaluate("test", progress=progress)
    groups = {
        "entity": "an entity",
        "subject/object": "  subject or object",
        "value": "  value",
        "relation": "a relation",
    }
    rows = [
        [
            text,
            *(report.metrics[group][name] for name in ("mrr", "hits@1", "hits@10")),
            int(report.metrics[group]["count"]),
        ]
        for group, text in groups.items()
        if group in report.metrics
    ]
    say()
    print_table("Test facts with one element missing", ["missing", "MRR", "Hits@1", "Hits@10", "queries"], rows)


def _ask(model: "TrainedModel") -> None:
    say("\nQuestions with part of a fact; the answer is in the training facts:")
    for question in _STORED:
        say(f"\n  {question}")
        answer = model.predict(question, k=1).answers[0]
        say(f"    {answer.name}\n    known: {answer.stored.fact if answer.stored else 'no'}")
    say("\nQuestions whose answer was held out from training; the model predicts it:")
    for question, prediction in zip(_UNSEEN, model.predict_many(_UNSEEN, k=3, known="mark"), strict=True):
        say(f"\n  {question}")
        for answer in prediction.answers:
            say(f"    {answer.probability:6.1%}  {answer.name}{_remark(answer)}")


def _remark(answer: "Answer") -> str:
    """What the stored facts say about a predicted answer."""
    if answer.stored is None:
        return ""
    return "   (in train)" if answer.stored.split == "train" else "   (right: held out from training)"


def _draw(folder: "RunFolder", out: Path, fact: str) -> None:
    from nary.apps.plots import plot_curves
    from nary.facts import parse_fact
    from nary.facts.drawing import draw_fact
    from nary.runs import RunFolder

    draw_fact(parse_fact(fact), out / "fact.svg")
    drawn = [f"{out}/fact.svg"]
    gran = RunFolder(folder.path / "parts" / "gran")
    try:
        plot_curves(gran)
        drawn.append(f"{gran}/curves.png")
    except MissingExtraError as missing:
        notice(f"no curves were drawn. {missing.hint}")
    say(f"\nDrawn: {', '.join(drawn)}")
