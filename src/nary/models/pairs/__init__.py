"""Models that score a whole fact by its pairs of role and value: NaLP, HINGE and NeuInfer."""
