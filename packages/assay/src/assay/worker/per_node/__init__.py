"""Which node is the first that is wrong, and where an error accumulates."""
