"""Ranking: how high a model puts the right answer among all candidates, and what that says."""
