"""The parameters of the node, and what they may be."""
