"""Datasets by name: what there is, where the files are, and how to load them."""

from nary.data.catalog.info import DatasetCounts, DatasetInfo, FactFile, File, Variant
from nary.data.catalog.registry import DATASETS, dataset_info, dataset_names, is_dataset, register_dataset

__all__ = [
    "DATASETS",
    "DatasetCounts",
    "DatasetInfo",
    "FactFile",
    "File",
    "Variant",
    "dataset_info",
    "dataset_names",
    "is_dataset",
    "register_dataset",
]
