"""Logs of a node at work: what is in them, their files, and what can be read off them."""
