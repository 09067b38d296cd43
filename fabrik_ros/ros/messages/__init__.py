"""Between messages and arrays, shapes and texts."""
