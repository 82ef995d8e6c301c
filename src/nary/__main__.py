"""``python -m nary``: the command line."""

from nary.apps.cli.main import main

main()
