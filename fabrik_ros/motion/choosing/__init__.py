"""Goals, and by which path the arm goes there."""
