"""Times: of the node, of messages, of commands."""
