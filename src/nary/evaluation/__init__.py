"""Evaluation by ranking: how high a model ranks the right answer among all candidates."""
