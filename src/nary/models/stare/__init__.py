"""STARE: a graph encoder that sees qualifiers, and a Transformer that answers with what it makes of the entities."""
