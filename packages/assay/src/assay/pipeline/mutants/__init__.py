"""The mutants of a model: which are run, and what it means that one passed."""
