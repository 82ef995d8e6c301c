"""What people run: the command line and, on it, everything else."""
