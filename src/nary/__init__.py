"""Nary: link prediction on n-ary facts."""

__version__ = "0.1.0.dev0"
