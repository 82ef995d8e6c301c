"""``python -m nary``: the command ``nary``, for launchers that start a module."""

from nary.apps.cli.main import main

if __name__ == "__main__":
    main()
