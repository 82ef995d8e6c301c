"""A blend: a model of models."""
