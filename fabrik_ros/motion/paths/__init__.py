"""Paths: what the arm can be on, and what is ahead on it."""
