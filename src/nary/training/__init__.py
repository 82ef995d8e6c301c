"""Training: batches, losses, optimizer and learning-rate schedule, callbacks, checkpoints, the trainer."""
