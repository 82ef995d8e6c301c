"""Training: instances, objective, optimizer and schedule, the loop, checkpoints."""
