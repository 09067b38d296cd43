"""What the node hears: joint states, targets, frames, obstacles, points."""
