"""Whether a file is a model that a backend can be asked about: rules by part, each finding a code with its numbers."""
