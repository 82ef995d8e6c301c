"""Importing knowledge graphs that are not files of facts: property graphs, data frames, Wikidata dumps, RDF."""
