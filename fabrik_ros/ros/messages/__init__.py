"""Conversions between messages and arrays, shapes and texts."""
