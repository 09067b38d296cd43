"""Configurations at a goal, and paths between configurations."""
