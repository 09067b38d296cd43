"""Commands on their way out."""
