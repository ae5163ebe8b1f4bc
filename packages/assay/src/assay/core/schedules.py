"""The ways in which a prompt can be fed to a causal language model: all must give the same probabilities of the next token."""

from __future__ import annotations

SCHEDULES = {
    "whole": "in one call",
    "prefix": "in one call that ends earlier",
    "steps": "with its last tokens one by one, on the cache",
    "chunks": "in pieces, on the cache",
    "batch": "beside other prompts in a batch",
    "padding": "behind padding, beside longer prompts",
}
"""By name, in words that follow "fed". A golden keeps the number of a name."""
NAMES = tuple(SCHEDULES)
PADDED = -1
"""In the labels of a prompt: no token stands here."""
