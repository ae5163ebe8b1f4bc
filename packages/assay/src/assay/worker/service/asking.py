"""A service asked for the next token of prompts, in every way."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile

import numpy as np

from assay.ports.prompts import Completion, DecodesPrompts, PromptService
from assay.worker.service.oracle import Oracle, Prompt
from assay.worker.service.places import Place
from assay.worker.service.recorded_service import Record

PLACES = 12
"""Of each prompt, asked one by one."""
GENERATED = 24
"""Tokens of a generated text."""
_STEPS = 4
"""Tokens of each of those that are asked together."""
CLIENTS = 8
"""Requests at the same time."""


def places_of(
    way: str, prompt: int, beginning: Prompt, answer: Completion, oracle: Oracle, most: int = 1
) -> list[Place]:
    """A place for each token that was generated, of those that were asked for, up to the first that the model does not have. Where
    nobody says which they are, the first log-probabilities are known at least. Text that the oracle does not know is learnt."""
    if answer.ids is None:
        return [Place(way, prompt, beginning, answer.tops[0], None)] if answer.tops and answer.tops[0] else []
    known = _known(answer, oracle, most)
    ids = answer.ids[: min(most, len(known) + 1)]
    oracle.learn([beginning + ids[:-1]])  # behind the last one nothing was asked
    tops = answer.tops if len(answer.tops) == len(answer.ids) else ({},) * len(ids)
    return [Place(way, prompt, beginning + ids[:at], tops[at], ids[at]) for at in range(len(ids))]


def _known(answer: Completion, oracle: Oracle, most: int) -> Prompt:
    """Its tokens up to the first that the model does not have."""
    return tuple(takewhile(lambda token: 0 <= token < len(oracle.noise), (answer.ids or ())[:most]))


def _beginnings(oracle: Oracle, most: int) -> list[tuple[int, Prompt]]:
    return [
        (number, prompt[: int(length)])
        for number, prompt in enumerate(oracle.prompts)
        for length in np.unique(np.linspace(1, len(prompt), most).astype(int))
    ]


def alone(service: PromptService, oracle: Oracle) -> list[Place]:
    """One request at a time, the shortest beginnings first; then the whole prompts again; then prompts that share a beginning. A library in
    this process reads each beginning whole, and the others behind what it holds."""
    places: list[Place] = []
    for number, beginning in _beginnings(oracle, PLACES):
        if isinstance(service, DecodesPrompts):
            service.forget()
        places += places_of("alone", number, beginning, service.complete(beginning, 1), oracle)
    for number, prompt in enumerate(oracle.prompts):
        for end in (len(prompt), len(prompt) - 1):
            places += places_of("again", number, prompt[:end], service.complete(prompt[:end], 1), oracle)
    branches = [
        (number, left[: len(left) // 2] + other[len(other) // 2 :])
        for number, (left, other) in enumerate(
            zip(oracle.prompts, oracle.prompts[1:] + oracle.prompts[:1], strict=True)
        )
    ]
    oracle.learn(text for _, text in branches)
    for number, text in branches:
        places += places_of("branched", number, text, service.complete(text, 1), oracle)
    return places


def together(service: PromptService, oracle: Oracle) -> list[Place]:
    """All at the same time, in another order, with a few tokens each, so that long and short ones are stepped side by side. Each begins
    with a token of its own: what a prefix cache knows already would be read alone, without padding."""
    draw = np.random.default_rng(7)
    known = _beginnings(oracle, 6)
    firsts = draw.choice(len(oracle.noise), len(known), replace=len(known) > len(oracle.noise))
    fresh = [(number, (int(first), *start[1:])) for (number, start), first in zip(known, firsts, strict=True)]
    asked = [fresh[at] for at in draw.permutation(len(fresh))]
    answers = _at_the_same_time(service, [beginning for _, beginning in asked])
    pairs = [(*question, answer) for question, answer in zip(asked, answers, strict=True)]
    oracle.learn(beginning + _known(answer, oracle, _STEPS) for _, beginning, answer in pairs)
    return [
        place
        for number, beginning, answer in pairs
        for place in places_of("together", number, beginning, answer, oracle, _STEPS)
    ]


def _at_the_same_time(service: PromptService, prompts: Sequence[Prompt]) -> list[Completion]:
    if isinstance(service, DecodesPrompts):
        batches = [prompts[at : at + CLIENTS] for at in range(0, len(prompts), CLIENTS)]
        return [answer for batch in batches for answer in service.complete_together(batch, _STEPS)]
    with ThreadPoolExecutor(CLIENTS) as clients:
        return list(clients.map(lambda prompt: service.complete(prompt, _STEPS), prompts))


def generated(service: PromptService, oracle: Oracle) -> tuple[list[Place], list[tuple[Prompt, Completion]]]:
    """What it makes of the first halves of the prompts, and the texts themselves."""
    starts: Sequence[Prompt] = [prompt[: max(1, len(prompt) // 2)] for prompt in oracle.prompts]
    answers = [(start, service.complete(start, GENERATED)) for start in starts]
    oracle.learn(start + _known(answer, oracle, GENERATED) for start, answer in answers)
    places = [
        place
        for number, (start, answer) in enumerate(answers)
        for place in places_of("generated", number, start, answer, oracle, GENERATED)
    ]
    return places, answers


def repeated(records: Sequence[Record], oracle: Oracle) -> list[Place]:
    """The same texts as they were streamed, and ended by stop strings."""
    again = [
        record for record in records if record.greedy and record.prompt is not None and (record.stream or record.stops)
    ]
    return [
        place
        for record in again
        for number, prompt in enumerate(oracle.prompts)
        if record.prompt == prompt[: max(1, len(prompt) // 2)]
        for place in places_of("generated", number, record.prompt, record.answer, oracle, record.tokens)
    ]
