"""Prompts as the calls of a causal language model."""
