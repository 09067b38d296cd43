"""Inputs of the node: joint states, targets, frames, obstacles, points."""
