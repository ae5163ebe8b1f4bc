"""Tells whether a compiled model is still the model, and still as fast."""
