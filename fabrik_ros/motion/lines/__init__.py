"""Tips on lines: references that move ahead of tips, and joints that follow them."""
