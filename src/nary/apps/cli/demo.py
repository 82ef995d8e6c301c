"""``nary demo``: everything once, on the dataset that comes with Nary, in about a minute."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nary.apps.cli.output import notice, print_table, progress_bar
from nary.apps.cli.serve import require_server, say_address
from nary.apps.cli.training_bar import TrainingBar
from nary.errors import MissingExtraError

if TYPE_CHECKING:
    from nary.runs import RunFolder, TrainedModel

_QUESTIONS = (
    "Marie Curie | award received | ? | point in time: 1911",
    "Niels Bohr | country of citizenship | ?",
    "Rabindranath Tagore | field of work | ?",
    "Toni Morrison | ? | novel",
    "Werner Heisenberg | award received | Nobel Prize in Physics | point in time: ?",
)
_MARK = ".demo"
"""Beside a run that a demo made, and so may replace."""
_SHORTENED = {"training.epochs": 20}  # of the recipe's 30: quicker, and nearly as good


def demo(
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where to put the run and the pictures.")] = Path(
        "nary-demo"
    ),
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Another value for a key of the recipe.")
    ] = None,
    serve: Annotated[bool, typer.Option("--serve", help="At the end, open the explorer on the model.")] = False,
) -> None:
    """Train GRAN on Nobel prizes, rank facts it has not seen, answer five questions, draw a fact.

    Example: nary demo
    """
    from nary.config import parse_overrides
    from nary.data.load import load
    from nary.recipe import choose_recipe
    from nary.runs import prepare_dataset, train_recipe

    if serve:
        require_server()  # now, not after the training
    recipe = choose_recipe("nobel", overrides={**_SHORTENED, **parse_overrides(set_ or [])})
    data = load("nobel")
    facts = sum(len(table) for table in data.splits.values())
    typer.echo(f"nobel: {facts:,} facts about Nobel prizes and laureates, such as")
    fact = next(fact for fact in data.train.facts(data.vocabulary) if fact.arity == 7)
    typer.echo(f"  {fact}\n")
    _clear(out)
    out.mkdir(parents=True, exist_ok=True)
    (out / _MARK).touch()
    with TrainingBar(show=True) as bar:
        result = train_recipe(prepare_dataset(data, recipe), recipe, out / "run", [bar])
    typer.echo(f"Trained for {result.epochs:.0f} epochs in {result.seconds:.0f} seconds.\n")
    model = result.model
    _evaluate(model)
    _ask(model)
    _draw(result.run_folder, out, str(fact))
    typer.echo(f'\nNext:\n  nary predict {out}/run "Ada Yonath | award received | ?"')
    typer.echo(f"  nary serve {out}/run --open\n  nary evaluate {out}/run")
    typer.echo("  nary train FACTS.jsonl      on your own facts; see docs/guide.md")
    if serve:
        _serve(model)


def _serve(model: "TrainedModel") -> None:
    from nary.apps.server.app import ServeOptions, start

    typer.echo()
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
    print_table("Facts it has not seen, one element missing", ["missing", "MRR", "Hits@1", "Hits@10", "queries"], rows)


def _ask(model: "TrainedModel") -> None:
    for question, prediction in zip(_QUESTIONS, model.predict_many(_QUESTIONS, k=3), strict=True):
        typer.echo(f"\n{question}")
        for answer in prediction.answers:
            typer.echo(f"  {answer.probability:6.1%}  {answer.name}{'   (known)' if answer.known else ''}")


def _draw(folder: "RunFolder", out: Path, fact: str) -> None:
    from nary.apps.drawing import draw_fact
    from nary.apps.plots import plot_curves
    from nary.facts import parse_fact

    draw_fact(parse_fact(fact), out / "fact.svg")
    drawn = [f"{out}/fact.svg"]
    try:
        plot_curves(folder)
        drawn.append(f"{out}/run/curves.png")
    except MissingExtraError as missing:
        notice(f"no curves were drawn. {missing.hint}")
    typer.echo(f"\nDrawn: {', '.join(drawn)}")
