"""Transforms: what is done to a model before it is lowered. Each is one file, found by entry point."""
