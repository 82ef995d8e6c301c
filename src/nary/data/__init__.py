"""Datasets: reading, writing, transforming, generating and examining facts."""
