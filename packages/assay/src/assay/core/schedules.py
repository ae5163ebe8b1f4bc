"""The ways in which a prompt can be fed to a causal language model: all must give the same probabilities of the next token."""

from __future__ import annotations

from typing import NamedTuple


class Schedule(NamedTuple):
    """`fed` says how, in words that follow "fed"; `suspect` what is wrong in a graph that answers otherwise then."""

    fed: str
    suspect: str


SCHEDULES = {
    "whole": Schedule("in one call", ""),
    "prefix": Schedule("in one call that ends earlier", "it sees tokens that come later: its causal mask is wrong"),
    "chunks": Schedule("in pieces, on the cache", "its cache, or the positions behind it, are wrong"),
    "steps": Schedule(
        "with its last tokens one by one, on the cache", "its cache, or the positions behind it, are wrong"
    ),
    "batch": Schedule("beside other prompts in a batch", "its rows are not independent of one another"),
    "padding": Schedule("behind padding, beside longer prompts", "it sees padding, or counts it as positions"),
    "right-padding": Schedule(
        "before padding, beside longer prompts", "it sees padding, or counts positions back from the end of a row"
    ),
}
"""By name, the simplest first. A golden keeps the number of a name."""
NAMES = tuple(SCHEDULES)
PADDED = -1
"""In the labels of a prompt: no token stands here."""
