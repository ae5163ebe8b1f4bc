"""From a model to an engine: import, transform, lower, save, load."""
