"""Training with several workers, which learn what one process learns.

Every worker takes its share of the batch of a step (:mod:`~nary.training.distributed.shares`). The rows of the entity
tables are spread over the workers, with their optimizer state (:mod:`~nary.training.distributed.tables`); all other
weights are the same everywhere, and their gradients are added up. A softmax over all entities is computed where their
rows are (:mod:`~nary.training.distributed.loss`).
"""
