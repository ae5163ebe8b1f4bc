"""Frozen values, no input or output: what all other rooms talk about."""
