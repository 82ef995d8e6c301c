"""The benchmark datasets Nary knows by name: what there is, where the files are, how to get them."""

from nary.data.catalog.entries import Counts, Entry, FactFile, File, Variant, entry, names

__all__ = ["Counts", "Entry", "FactFile", "File", "Variant", "entry", "names"]
