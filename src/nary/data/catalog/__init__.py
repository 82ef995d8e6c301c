"""Datasets by name: what there is, where the files are, and how to load them."""

from nary.data.catalog.entries import CatalogEntry, DatasetCounts, FactFile, File, Variant
from nary.data.catalog.registry import DATASETS, catalog_entry, dataset_names, is_dataset, register_dataset

__all__ = [
    "DATASETS",
    "CatalogEntry",
    "DatasetCounts",
    "FactFile",
    "File",
    "Variant",
    "catalog_entry",
    "dataset_names",
    "is_dataset",
    "register_dataset",
]
