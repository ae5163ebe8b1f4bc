"""Frozen values, no input or output: what the rest of the house talks about."""
