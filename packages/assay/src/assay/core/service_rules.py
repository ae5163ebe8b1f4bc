"""In how many ways a service that continues prompts is asked."""

from __future__ import annotations

from typing import NamedTuple


class Way(NamedTuple):
    """`asked` says how, in words that follow "asked"; `suspect` what is wrong in a service that answers otherwise then."""

    asked: str
    suspect: str


WAYS = {
    "alone": Way("one request at a time", "its weights, its arithmetic or the context that it reads are others"),
    "again": Way("the same once more", "its prefix cache does not keep what it read"),
    "branched": Way(
        "behind a beginning that an earlier prompt shares", "its prefix cache gives what is not the prompt's"
    ),
    "together": Way("beside others at the same time", "requests of a batch are not independent, or padding is seen"),
    "generated": Way("as a text goes on that it generates", "its cache, or the positions behind it, are wrong"),
    "text": Way("with the prompt as text", "its tokenizer is another one"),
    "chat": Way("as a chat", "its chat template is another one"),
}
"""By name, the simplest first: all must give the probabilities of the model."""
