"""Reproducing published results: experiments, result records, the results page and comparisons of runs."""
