"""IREE: a model compiled to a module, and run on the CPU or another of its devices."""
