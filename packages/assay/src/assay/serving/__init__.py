"""Served requests under load: what arrives when, how long answers take, and which of two services is faster."""
