"""``nary push``: upload a model to the Hugging Face Hub."""

from pathlib import Path
from typing import Annotated

import typer

from nary.apps.cli.options import Json
from nary.apps.cli.output import notice, print_json, say


def push(
    run: Annotated[Path, typer.Argument(metavar="RUN", show_default=False, help="A run folder or a model folder.")],
    repository: Annotated[
        str,
        typer.Argument(metavar="REPO", show_default=False, help="OWNER/NAME on the hub; created if it does not exist."),
    ],
    public: Annotated[bool, typer.Option("--public", help="Make a new repository public.")] = False,
    json: Json = False,
) -> None:
    """Upload a model, including its facts and names, to the Hugging Face Hub as one commit.

    This needs a token: set HF_TOKEN, or log in with: hf auth login

    Example: nary push runs/nobel-gran ada/nobel-gran
    """
    import nary

    address = nary.push(run, repository, public=public)
    if json:
        print_json({"address": address})
        return
    say(f"Pushed {address}")
    notice("the facts and names that the model knows are part of it")
    say(f"Next: nary predict {address} QUERY")
