"""What a service that continues prompts is asked for, in how many ways, and the words for each that is broken."""

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
RULES = {
    "limit": "asked for a number of tokens it generates another",
    "reason": "it names another reason for the end of its text",
    "stop": "a stop string does not end the text where it should",
    "stream": "the pieces of a stream do not join to the whole text",
    "text": "its text is not that of its tokens",
    "repeat": "one seed gives two texts",
    "seeds": "all seeds give one text",
    "draws": "what it draws is not distributed as the model says: the statistic is beyond its bound",
    "temperature": "what it draws is as probable as at another temperature: the mean log-probability is off",
    "repetition": "tokens that stand in the prompt are drawn more or less often than the model says",
    "prompt_tokens": "it counts other tokens in a text than its tokenizer makes",
    "chat_tokens": "it counts other tokens in a chat than the template makes",
}
"""What it must keep, whatever the model: in words for one that does not."""
