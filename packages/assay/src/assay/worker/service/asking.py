"""A service asked for the next token of prompts, in every way."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from assay.ports.prompts import Completion, PromptService
from assay.worker.service.oracle import Oracle, Prompt
from assay.worker.service.places import Place

PLACES = 12
"""Of each prompt, asked one by one."""
GENERATED = 24
"""Tokens of a generated text."""
_STEPS = 4
"""Tokens of each of those that are asked together."""
CLIENTS = 8
"""Requests at the same time."""


def _at(way: str, prompt: int, beginning: Prompt, answer: Completion, most: int = 1) -> list[Place]:
    """A place for each token that was generated, of those that were asked for. Where nobody says which they are, the first
    log-probabilities are known at least."""
    ids = answer.ids
    if ids is None:
        return [Place(way, prompt, beginning, answer.tops[0], None)] if answer.tops and answer.tops[0] else []
    tops = answer.tops if len(answer.tops) == len(ids) else ({},) * len(ids)
    return [Place(way, prompt, beginning + ids[:at], top, ids[at]) for at, top in enumerate(tops[:most])]


def _beginnings(oracle: Oracle, most: int) -> list[tuple[int, Prompt]]:
    return [
        (number, prompt[: int(length)])
        for number, prompt in enumerate(oracle.prompts)
        for length in np.unique(np.linspace(1, len(prompt), most).astype(int))
    ]


def alone(service: PromptService, oracle: Oracle) -> list[Place]:
    """One request at a time, the shortest beginnings first; then the whole prompts again; then prompts that share a beginning."""
    found: list[Place] = []
    for number, beginning in _beginnings(oracle, PLACES):
        found += _at("alone", number, beginning, service.complete(beginning, 1))
    for number, prompt in enumerate(oracle.prompts):
        for end in (len(prompt), len(prompt) - 1):
            found += _at("again", number, prompt[:end], service.complete(prompt[:end], 1))
    branches = [
        (number, one[: len(one) // 2] + other[len(other) // 2 :])
        for number, (one, other) in enumerate(zip(oracle.prompts, oracle.prompts[1:] + oracle.prompts[:1], strict=True))
    ]
    oracle.learn(text for _, text in branches)
    for number, text in branches:
        found += _at("branched", number, text, service.complete(text, 1))
    return found


def together(service: PromptService, oracle: Oracle) -> list[Place]:
    """All at the same time, in another order, with a few tokens each, so that long and short ones are stepped side by side. Each begins
    with a token of its own: what a prefix cache knows already would be read alone, without padding."""
    draw = np.random.default_rng(7)
    known = _beginnings(oracle, 6)
    firsts = draw.choice(len(oracle.noise), len(known), replace=len(known) > len(oracle.noise))
    fresh = [(number, (int(first), *start[1:])) for (number, start), first in zip(known, firsts, strict=True)]
    asked = [fresh[at] for at in draw.permutation(len(fresh))]
    with ThreadPoolExecutor(CLIENTS) as clients:
        answers = list(clients.map(lambda one: service.complete(one[1], _STEPS), asked))
    known_ids = range(len(oracle.noise))
    pairs = [
        (number, beginning, answer)
        for (number, beginning), answer in zip(asked, answers, strict=True)
        if all(one in known_ids for one in answer.ids or ())
    ]
    oracle.learn(beginning + (answer.ids or ()) for _, beginning, answer in pairs)
    return [
        place for number, beginning, answer in pairs for place in _at("together", number, beginning, answer, _STEPS)
    ]


def generated(service: PromptService, oracle: Oracle) -> tuple[list[Place], list[tuple[Prompt, Completion]]]:
    """What it makes of the first halves of the prompts, and the texts themselves."""
    starts: Sequence[Prompt] = [prompt[: max(1, len(prompt) // 2)] for prompt in oracle.prompts]
    answers = [(start, service.complete(start, GENERATED)) for start in starts]
    texts = [start + (answer.ids or ()) for start, answer in answers]
    oracle.learn(text for text in texts if all(0 <= one < len(oracle.noise) for one in text))
    found = [
        place
        for number, (start, answer) in enumerate(answers)
        if answer.ids is None or all(0 <= one < len(oracle.noise) for one in answer.ids)
        for place in _at("generated", number, start, answer, GENERATED)
    ]
    return found, answers
