"""Status of the node, and of others of its name."""
