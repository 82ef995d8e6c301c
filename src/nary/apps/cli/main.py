"""The command ``nary``: registers the commands and turns errors into messages and exit codes."""

import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from nary.apps.cli.blend import blend
from nary.apps.cli.check import check
from nary.apps.cli.compare import compare
from nary.apps.cli.convert import convert
from nary.apps.cli.datasets import datasets
from nary.apps.cli.demo import demo
from nary.apps.cli.evaluate import evaluate
from nary.apps.cli.explain import explain
from nary.apps.cli.export import export
from nary.apps.cli.facts import facts
from nary.apps.cli.generate import generate
from nary.apps.cli.import_ import import_
from nary.apps.cli.models import models
from nary.apps.cli.output import notice, print_error, say
from nary.apps.cli.predict import predict
from nary.apps.cli.push import push
from nary.apps.cli.recipes import recipes
from nary.apps.cli.reproduce import reproduce
from nary.apps.cli.results import results
from nary.apps.cli.rules import rules
from nary.apps.cli.score import score
from nary.apps.cli.serve import serve
from nary.apps.cli.show import show
from nary.apps.cli.similar import similar
from nary.apps.cli.split import split
from nary.apps.cli.stats import stats
from nary.apps.cli.streams import as_user_error, drop_output, prepare_streams
from nary.apps.cli.suggest import suggest
from nary.apps.cli.train import train
from nary.apps.cli.tune import tune
from nary.apps.cli.update import update
from nary.apps.cli.verify import verify
from nary.errors import NaryError, NaryWarning, SettingError
from nary.version import __version__

app = typer.Typer(
    name="nary",
    help="Link prediction on n-ary facts: triples with any number of qualifiers.",
    pretty_exceptions_enable=False,
)

_show_other_warning = warnings.showwarning
_STOPPED = 130  # the shell's code for an interrupt
_UsageError: type[typer.BadParameter] = typer.BadParameter.__bases__[0]  # typer exports only this subclass of it

_PANELS: dict[str, tuple[Callable[..., None], ...]] = {
    "Train": (demo, train, update, evaluate, compare, blend, tune),
    "Use": (predict, facts, score, suggest, explain, rules, similar, serve, export, push, verify),
    "Data": (datasets, stats, check, convert, import_, split, generate, show),
    "Reproduce": (models, recipes, reproduce, results),
}
for panel, commands in _PANELS.items():
    for command in commands:
        app.command(command.__name__.rstrip("_"), rich_help_panel=panel)(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"nary {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    pass


def _check_arguments(arguments: Sequence[str]) -> None:
    """Refuse what is not UTF-8, such as some names of files: neither messages nor JSON could repeat it."""
    for argument in arguments:
        if any("\ud800" <= character <= "\udfff" for character in argument):
            raise SettingError(f"the argument {argument!r} is not UTF-8", "Rename the file it means.")


def _show_warning(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    if issubclass(category, NaryWarning):
        notice(str(message))
    else:
        _show_other_warning(message, category, *where, **more)


def _report(error: NaryError, as_json: bool) -> int:
    """Print an error, if it can be printed; its exit code."""
    try:
        print_error(error, as_json)
    except OSError:
        drop_output(sys.stderr)
    return error.exit_code


def main() -> None:
    """Run a command: exit code 0, 1 when a check failed, 2 for bad input; no traceback for a user's mistake."""
    as_json = "--json" in sys.argv
    warnings.showwarning = _show_warning
    prepare_streams()
    try:
        Path.cwd()  # an error if it was removed; torch would end the process without one
        _check_arguments(sys.argv[1:])
        code = app(args=sys.argv[1:] or ["--help"], standalone_mode=False)
        sys.stdout.flush()
    except NaryError as error:
        code = _report(error, as_json)
    except _UsageError as error:
        hint = f"See: {error.ctx.command_path} --help" if error.ctx else None
        code = _report(SettingError(error.format_message().rstrip("."), hint), as_json)
    except (KeyboardInterrupt, typer.Abort):
        code = _STOPPED
    except BrokenPipeError:  # the reader of our output has seen enough, as head does
        drop_output(sys.stdout)
        code = 0
    except (MemoryError, OSError, RuntimeError) as error:
        explained = as_user_error(error)
        if explained is None:
            raise
        drop_output(sys.stdout)
        code = _report(explained, as_json)
    if code == _STOPPED:  # typer returns this code for most interrupts
        say("\nStopped.", err=True)
    sys.exit(code if isinstance(code, int) else 0)
