"""The command ``nary``: one thin file per command."""
