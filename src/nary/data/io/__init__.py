"""Reading and writing files of facts. To add a format, derive from :class:`LineFormat` or :class:`Format`."""

from nary.data.io.base import FactColumns, Format, ParsedChunk, Problem
from nary.data.io.formats import FORMATS, register_format
from nary.data.io.lines import LineError, LineFormat, Record, make_record
from nary.data.io.reader import read
from nary.data.io.writer import write

__all__ = [
    "FORMATS",
    "FactColumns",
    "Format",
    "LineError",
    "LineFormat",
    "ParsedChunk",
    "Problem",
    "Record",
    "make_record",
    "read",
    "register_format",
    "write",
]
