"""The faults that can be planted in the server, each by its name: what it does wrong, and where."""

from __future__ import annotations

from assay.errors import UnknownName

NETWORK = {
    "rotary-base": "the base of the rotary positions is 10100 for 10000",
    "rotary-scale": "rotary positions are scaled by 0.99",
    "norm-epsilon": "the epsilon of the norms is 1e-4 for 1e-5",
    "attention-scale": "scores are divided by the square root of one head width too many",
    "mask-sees-next": "a token sees the one behind it",
    "mask-loses-oldest": "a token does not see the first of all",
    "mask-loses-previous": "a token does not see the one before it",
    "head-groups": "queries read the keys of the other group",
    "silu-approximated": "the sigmoid of the activation is a hyperbolic tangent of another slope",
    "head-int8": "the output weights are rounded to 8 bits",
    "head-int4": "the output weights are rounded to 4 bits",
    "weights-int8": "all matrices are rounded to 8 bits",
    "float16": "activations are rounded to float16",
    "bfloat16": "activations are rounded to bfloat16",
    "logit-scale": "logits are divided by 1.02",
    "one-logit": "0.05 is added to the logit of one token",
    "position-of-first": "positions begin with 1 where they are counted from 0, behind the first token",
}
CACHE = {
    "cache-off-by-one": "each step writes over the newest place of the cache",
    "cache-loses-newest": "the newest place of the cache is empty",
    "cache-float16": "the cache is kept in float16",
    "cache-int8": "the cache is kept in 8 bits",
    "decode-position": "positions of generated tokens are one too far",
    "stale-slot": "the third place of the cache is what an earlier request left there",
    "stale-prefix": "a hit of the prefix cache takes a prefix whose first tokens alone agree",
    "stale-prefix-one": "a hit of the prefix cache takes one token more than agrees",
    "chunk-position": "each chunk of a prompt counts positions from 0",
}
DRAFT = {
    "draft-accepted": "tokens of a draft are taken without a look at them",
    "draft-cache": "what was rejected of a draft stays in the cache",
}
BATCH = {
    "batch-leak": "values of the first of a batch are read by its mates",
    "batch-swap": "the answers of a batch are given in another order",
    "padding-leak": "one token of padding is seen",
    "padding-position": "padding is counted as positions",
}
PROMPT = {
    "context-cut": "only the last 16 tokens of a prompt are kept",
    "prompt-end-cut": "the last token of a long prompt is dropped",
    "extra-token": "a token is put before each prompt",
    "tokenizer-case": "text is made lower case before it becomes tokens",
    "template-system": "the chat template leaves the system's words out",
    "template-opening": "the chat template does not open the answer",
    "template-order": "the chat template turns the order of the messages round",
}
SAMPLER = {
    "greedy-second": "the second most probable token is taken where two are close",
    "sampler-temperature": "the temperature of sampling is 1.3 times what is asked for",
    "sampler-top": "only the eight most probable tokens are drawn",
    "sampler-repetition": "tokens that stand in the prompt are drawn less often",
    "seed-ignored": "the seed of a request is not read",
    "seed-constant": "every seed gives the same draws",
    "logprobs-late": "log-probabilities are those of the position before",
}
TEXT = {
    "stop-ignored": "stop strings are not looked for",
    "stop-kept": "the stop string stays in the text",
    "limit-one-more": "one token more than asked for is generated",
    "finish-reason": "the reason of the end is always 'stop'",
    "stream-last": "a stream loses its last piece",
    "stream-bytes": "a stream makes text of each token alone",
    "text-space": "the first space of an answer is removed",
    "usage": "the tokens of the prompt are counted one too few",
}
FAULTS = NETWORK | CACHE | DRAFT | BATCH | PROMPT | SAMPLER | TEXT
"""By name, in words."""


def checked(names: frozenset[str]) -> frozenset[str]:
    """Raises UnknownName for a fault that is none."""
    for name in sorted(names):
        if name not in FAULTS:
            raise UnknownName(f"there is no fault {name!r} to plant; there are {', '.join(FAULTS)}")
    return names
