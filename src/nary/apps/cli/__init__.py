"""The command ``nary``: a file a command, each thin."""
