"""A small server of a small language model, for tests and as a worked example: never a product. Switches plant faults in it."""
