"""STARE: a graph encoder whose messages include qualifiers, and a Transformer over the query."""
