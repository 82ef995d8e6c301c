"""RDF 1.2 and RDF-star: annotated and reified statements are facts with qualifiers, plain ones are triples."""

from pathlib import PurePath
from types import ModuleType

from nary.data.files import extension
from nary.errors import MissingExtraError

EXTENSIONS = (".ttl", ".turtle", ".trig", ".nt", ".ntriples", ".nq", ".nquads")
"""Extensions of files in Turtle, TriG, N-Triples and N-Quads."""


def is_rdf(path: PurePath) -> bool:
    """Whether the extension is that of RDF."""
    return extension(path).lower() in EXTENSIONS


def pyoxigraph() -> ModuleType:
    """Return the library that parses RDF."""
    try:
        import pyoxigraph
    except ImportError:
        raise MissingExtraError("RDF", "rdf") from None
    return pyoxigraph
