"""Nodes beside the node: handles, clients, checks."""
