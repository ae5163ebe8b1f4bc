"""Comparing tensors: structure, finite classes, degenerate outputs, metrics."""
