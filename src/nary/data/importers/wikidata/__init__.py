"""Importing a JSON dump of Wikidata, or of another Wikibase: every statement becomes a fact with its qualifiers."""
