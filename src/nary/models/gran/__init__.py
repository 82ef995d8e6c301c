"""GRAN: a fact as a small typed graph, encoded by attention with biases for the types of its edges."""
