"""Training: instances, objective, optimiser and schedule, the loop, checkpoints."""
