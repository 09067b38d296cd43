"""The arm of a description, and what the parts of the node share of it."""
