"""Reading, writing, finding and examining facts."""
