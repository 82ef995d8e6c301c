"""A model for other programs: its vectors as TSV, Parquet or NumPy, or its scores as a torch.export or ONNX program."""

from nary.inference.export.exporting import FORMATS, Exported, export

__all__ = ["FORMATS", "Exported", "export"]
