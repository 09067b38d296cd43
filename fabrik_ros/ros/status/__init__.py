"""What the node says of itself, and who else is there."""
