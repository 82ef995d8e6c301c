"""Runs side by side: how good each is, what it cost, and whether they may be compared at all."""
