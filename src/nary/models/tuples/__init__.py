"""Models that see a fact as a tuple: one relation, and an entity in each slot."""
